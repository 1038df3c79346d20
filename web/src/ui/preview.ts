/** A frame as it looks in an export. */
import type { Session } from '../editor/session';
import type { FrameMasks } from '../editor/state';
import type { Previewer } from '../export/client';
import type { Look } from '../export/types';

/** `width` pixels wide; null where another was asked for meanwhile. */
export async function previewOf(
  previewer: Previewer,
  { source, edges }: Session,
  { ids, planes, raster, drawn }: FrameMasks,
  picture: ImageBitmap,
  look: Look,
  width: number,
): Promise<ImageBitmap | null> {
  const small = await createImageBitmap(picture, { resizeWidth: width, resizeQuality: 'medium' });
  const frame = { width: source.width, height: source.height };
  return previewer.show({ picture: small, masks: { ids, planes, raster, drawn }, frame, look, edges });
}
