/** Sessions that are kept on the device: masks and settings in a database, videos beside it as files. */
import { keepFile } from '../export/client';
import { removeStored, storedFile } from '../export/storage';
import type { Kept, Settings } from './kept';
import type { FrameMasks } from './state';

const VIDEOS = 'videos';
/** So many sessions are kept; the oldest goes. */
const MOST = 4;
/** Share of the room that is left which a video may take. */
const ROOM = 0.8;

/** What is shown of a session before it is opened. */
export interface Card {
  id: string;
  /** Milliseconds since 1970. */
  saved: number;
  /** Frames with masks. */
  followed: number;
  settings: Settings;
  image: Blob | null;
  /** A small picture of it. */
  picture: Blob | null;
}

/** Frames that are new or changed, and those that are gone. */
export interface Changes {
  put: [number, FrameMasks][];
  gone: number[];
}

/** The newest first. */
export async function cards(): Promise<Card[]> {
  if (typeof indexedDB === 'undefined') return [];
  const all = await request<Card[]>((stores) => stores('sessions').getAll(), 'readonly');
  return all.sort((a, b) => b.saved - a.saved);
}

/** Null where its video is gone. */
export async function taken(card: Card): Promise<{ video: File; kept: Kept } | null> {
  const video = await storedFile(VIDEOS, card.id);
  if (!video?.size) return null;
  const range = IDBKeyRange.bound([card.id, 0], [card.id, Infinity]);
  const keys = await request<[string, number][]>((stores) => stores('frames').getAllKeys(range), 'readonly');
  const frames = await request<FrameMasks[]>((stores) => stores('frames').getAll(range), 'readonly');
  const masks = new Map(keys.map(([, index], i) => [index, frames[i]]));
  return { video, kept: { settings: card.settings, masks, image: card.image } };
}

/** Keep the video of a session; throws a sentence where there is no room for it. */
export async function keepVideo(id: string, file: Blob): Promise<void> {
  if (!navigator.storage?.getDirectory) throw new Error('This browser keeps no files.');
  const { quota = Infinity, usage = 0 } = await navigator.storage.estimate();
  if (file.size > ROOM * (quota - usage)) throw new Error('There is no room left on this device to keep the video.');
  const { file: kept } = await keepFile([file], { folder: VIDEOS, name: id }, new AbortController().signal);
  if (!(await storedFile(VIDEOS, id)) || kept?.size !== file.size) throw new Error('This browser keeps no files.');
}

export async function keep(card: Card, { put, gone }: Changes): Promise<void> {
  await transaction('readwrite', (stores) => {
    stores('sessions').put(card);
    for (const [index, masks] of put) stores('frames').put(masks, [card.id, index]);
    for (const index of gone) stores('frames').delete([card.id, index]);
  });
  for (const old of (await cards()).slice(MOST)) await discard(old.id);
}

export async function discard(id: string): Promise<void> {
  await transaction('readwrite', (stores) => {
    stores('sessions').delete(id);
    stores('frames').delete(IDBKeyRange.bound([id, 0], [id, Infinity]));
  });
  await removeStored(VIDEOS, id);
}

type Stores = (name: 'sessions' | 'frames') => IDBObjectStore;
let opened: Promise<IDBDatabase> | undefined;

function database(): Promise<IDBDatabase> {
  opened ??= new Promise<IDBDatabase>((resolve, reject) => {
    const opening = indexedDB.open('mobilevos', 1);
    opening.onupgradeneeded = () => {
      opening.result.createObjectStore('sessions', { keyPath: 'id' });
      opening.result.createObjectStore('frames');
    };
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
  return opened;
}

/** All of the work, or nothing of it. */
async function transaction(mode: IDBTransactionMode, work: (stores: Stores) => void): Promise<void> {
  const all = (await database()).transaction(['sessions', 'frames'], mode);
  await new Promise<void>((resolve, reject) => {
    all.oncomplete = () => resolve();
    all.onabort = all.onerror = () => reject(all.error ?? new Error('The storage is full.'));
    work((name) => all.objectStore(name));
  });
}

async function request<T>(work: (stores: Stores) => IDBRequest, mode: IDBTransactionMode): Promise<T> {
  let asked: IDBRequest | undefined;
  await transaction(mode, (stores) => (asked = work(stores)));
  return asked!.result as T;
}
