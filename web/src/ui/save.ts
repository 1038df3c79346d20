/** Files that leave the page. */
import { placeForDownload } from '../export/client';
import type { Place } from '../export/messages';
import { h } from './dom';

interface Picker {
  showSaveFilePicker?(options: {
    suggestedName: string;
    types: { accept: Record<string, string[]> }[];
  }): Promise<FileSystemFileHandle>;
}

/**
 * Where a file goes: where the person wants it, if the browser lets pages write there; else into the browser's storage,
 * to be downloaded from there. Null where they changed their mind.
 */
export async function choosePlace(name: string, type: string): Promise<Place | null> {
  const picker = (window as unknown as Picker).showSaveFilePicker;
  if (picker) {
    try {
      const types = [{ accept: { [type]: [name.slice(name.lastIndexOf('.'))] } }];
      return { handle: await picker.call(window, { suggestedName: name, types }) };
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') return null;
      // It may be forbidden here, for instance in a frame: the download works everywhere.
    }
  }
  return placeForDownload(name);
}

/** Hand over a file that is not where the person wants it yet. */
export function download(file: Blob, name: string, type: string): void {
  const url = URL.createObjectURL(file.type === type ? file : file.slice(0, file.size, type));
  h('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // the download reads it for a while
}

export function sizeText(bytes: number): string {
  if (bytes < 1e6) return `${Math.max(1, Math.round(bytes / 1e3))} KB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}

/** As people say it. */
export function timeText(seconds: number): string {
  if (seconds < 90) return `${Math.max(1, Math.round(seconds))} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
