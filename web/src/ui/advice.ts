/** What a person may do next, in a line. */
import { DOUBTFUL } from '../editor/doubt';
import type { Session } from '../editor/session';
import { trust } from '../editor/state';

export function advice(session: Session): string {
  const { frames } = session.state;
  if (session.busy === 'refining') {
    return session.network.engine ? 'Looking …' : 'Loading the model (only the first time) …';
  }
  if (session.busy === 'tracking') return 'Following. Pause where it drifts, fix it, go on.';
  if (!frames.size) return 'Drag around it, or tap it.';
  if (!session.masks) return 'No mask here yet. Follow comes to this frame; or mark the object here.';
  if (frames.size === 1) return 'Good? Press Follow. Not quite? Tap again to add or remove.';
  const value = trust(session.masks);
  return value !== null && value < DOUBTFUL ? 'Check this frame. Fix it here, then follow again.' : '';
}
