/**
 * A session as one file: a line that says what it is, the length of what comes next, the settings as JSON, the masks, the
 * background's picture, the video. The video comes last and as it was, so it need not be read to open the project.
 */
import type { Packed } from '../tracking/planes';
import type { Marks } from '../tracking/marks';
import { VideoError } from '../video/source';
import { imageOf, settingsOf, type Kept, type Settings } from './kept';
import type { Session } from './session';
import type { FrameMasks } from './state';

export const ENDING = 'mobilevos';
const MAGIC = 'mobilevos project 1\n';

/** The masks of a frame, but for the planes, of which it has the lengths. */
type Frame = Omit<FrameMasks, 'planes' | 'drawn' | 'marks'> & {
  index: number;
  planes: number[];
  drawn: number[];
  marks: [number, Marks][];
};

interface Header {
  settings: Settings;
  frames: Frame[];
  /** Bytes of what follows. */
  planes: number;
  image: { size: number; type: string } | null;
  video: { size: number; type: string };
}

/** The parts of the file, in their order. */
export async function projectParts(session: Session): Promise<Blob[]> {
  const frames: Frame[] = [];
  const planes: Packed[] = [];
  for (const [index, masks] of session.state.frames) {
    planes.push(...masks.planes);
    const lengths = masks.planes.map((plane) => plane.length);
    frames.push({ ...masks, index, planes: lengths, drawn: [...masks.drawn], marks: [...masks.marks] });
  }
  const image = await imageOf(session);
  const { file } = session.source;
  const header: Header = {
    settings: settingsOf(session),
    frames,
    planes: planes.reduce((sum, plane) => sum + plane.length, 0),
    image: image && { size: image.size, type: image.type },
    video: { size: file.size, type: file.type },
  };
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, text.length, true);
  return [new Blob([MAGIC, length, text]), new Blob(planes), ...(image ? [image] : []), file];
}

export async function isProject(file: Blob): Promise<boolean> {
  return (await file.slice(0, MAGIC.length).text()) === MAGIC;
}

export async function readProject(file: Blob, name: string): Promise<{ video: Blob; kept: Kept }> {
  let at = MAGIC.length;
  const next = (size: number, type = '') => {
    if (at + size > file.size) throw new VideoError(`“${name}” is incomplete: its end is missing.`);
    return file.slice(at, (at += size), type);
  };
  const length = new DataView(await next(4).arrayBuffer()).getUint32(0, true);
  let header: Header;
  try {
    header = JSON.parse(await next(length).text()) as Header;
  } catch (error) {
    throw error instanceof VideoError ? error : new VideoError(`“${name}” is damaged.`);
  }
  const planes = new Uint8Array(await next(header.planes).arrayBuffer());
  const image = header.image && next(header.image.size, header.image.type);
  const video = next(header.video.size, header.video.type);
  const masks = new Map<number, FrameMasks>();
  let from = 0;
  for (const { index, ...frame } of header.frames) {
    const own = frame.planes.map((size) => planes.slice(from, (from += size)));
    masks.set(index, { ...frame, planes: own, drawn: new Set(frame.drawn), marks: new Map(frame.marks) });
  }
  return { video, kept: { settings: header.settings, masks, image } };
}
