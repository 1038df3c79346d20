/** What can be exported, as people choose it. */
import { plainLook, type Look } from './types';

export type FormatName = 'mp4' | 'over' | 'still' | 'transparent' | 'green' | 'matte' | 'pictures' | 'masks' | 'coco';

export interface Format {
  title: string;
  text: string;
  ending: string;
  /** Of the file. */
  type: string;
  /** What is made of the frames; null where no pictures are. */
  look(chosen: Look): Look | null;
  /** Whether the look that is chosen matters. */
  over: boolean;
  /** Whether it holds all frames, so that nothing is lost when the video is closed. */
  whole: boolean;
}

/** The green of studios, which editors know how to take away. */
const GREEN = '#00b140';
const TRANSPARENT = { kind: 'transparent' } as const;

export const FORMATS: Record<FormatName, Format> = {
  mp4: {
    title: 'MP4 video',
    text: 'H.264 with sound, plays everywhere',
    ending: 'video.mp4',
    type: 'video/mp4',
    look: (chosen) => chosen,
    over: true,
    whole: true,
  },
  over: {
    title: 'WebM video',
    text: 'VP9 with sound, for web pages',
    ending: 'video.webm',
    type: 'video/webm',
    look: (chosen) => chosen,
    over: true,
    whole: true,
  },
  still: {
    title: 'This frame',
    text: 'One picture, as PNG',
    ending: 'still.png',
    type: 'image/png',
    look: (chosen) => chosen,
    over: true,
    whole: false,
  },
  transparent: {
    title: 'Transparent video',
    text: 'WebM with alpha, the cut-out alone',
    ending: 'cutout.webm',
    type: 'video/webm',
    look: (chosen) => ({ ...chosen, background: TRANSPARENT }),
    over: false,
    whole: true,
  },
  green: {
    title: 'Green screen',
    text: 'MP4 for editors that read no alpha',
    ending: 'green.mp4',
    type: 'video/mp4',
    look: (chosen) => ({ ...chosen, background: { kind: 'color', color: GREEN } }),
    over: false,
    whole: true,
  },
  matte: {
    title: 'Matte',
    text: 'WebM in black and white, as a luma matte',
    ending: 'matte.webm',
    type: 'video/webm',
    look: () => plainLook({ kind: 'matte' }),
    over: false,
    whole: true,
  },
  pictures: {
    title: 'PNG sequence',
    text: 'Zip of cut-outs with alpha, one a frame',
    ending: 'pictures.zip',
    type: 'application/zip',
    look: (chosen) => ({ ...chosen, background: TRANSPARENT }),
    over: false,
    whole: true,
  },
  masks: {
    title: 'Masks',
    text: 'Zip of palette PNGs, as DAVIS has them',
    ending: 'masks.zip',
    type: 'application/zip',
    look: () => null,
    over: false,
    whole: true,
  },
  coco: {
    title: 'COCO JSON',
    text: 'Outlines as run lengths, for labelling tools',
    ending: 'coco.json',
    type: 'application/json',
    look: () => null,
    over: false,
    whole: true,
  },
};

/** What people come for, and what serves it. */
export const PURPOSES: { title: string; formats: FormatName[] }[] = [
  { title: 'Share', formats: ['mp4', 'over', 'still'] },
  { title: 'Edit', formats: ['transparent', 'green', 'matte', 'pictures'] },
  { title: 'Train', formats: ['masks', 'coco'] },
];
