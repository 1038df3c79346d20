/** What the page and the worker that writes files say to each other. */
import type { Edges } from './edges';
import type { FormatName } from './formats';
import type { Masks, Range } from './tracked';
import type { Look } from './types';

/** Where a file goes: one that the person has chosen, or a name in the browser's storage. */
export type Place = { handle: FileSystemFileHandle } | { folder: string; name: string };

/** An export. The worker reads the video itself where it can; else it asks the page for its pictures. */
export interface Job {
  format: FormatName;
  video: {
    file: Blob;
    name: string;
    width: number;
    height: number;
    timestamps: number[];
    durations: number[];
    /** Whether only the page can read it. */
    pageOnly: boolean;
  };
  range: Range;
  look: Look;
  edges: Edges;
  names: string[];
  place: Place;
}

/** One frame of a job. */
export interface Part {
  index: number;
  masks: Masks | undefined;
  /** Where the worker cannot read the video. */
  picture: ImageBitmap | null;
}

/** A frame as it will look, smaller than the video. */
export interface Preview {
  number: number;
  picture: ImageBitmap;
  masks: Masks | undefined;
  frame: { width: number; height: number };
  look: Look;
  edges: Edges;
}

export type ToWorker =
  | { say: 'export'; job: Job }
  | { say: 'part'; part: Part }
  | { say: 'cancel' }
  | { say: 'keep'; parts: Blob[]; place: Place }
  | { say: 'preview'; preview: Preview };

export type FromWorker =
  | { say: 'need'; index: number; picture: boolean }
  | { say: 'progress'; done: number; total: number; bytes: number }
  | { say: 'done'; bytes: number; file: Blob | null }
  | { say: 'failed'; message: string; aborted: boolean }
  | { say: 'preview'; number: number; picture: ImageBitmap | null };
