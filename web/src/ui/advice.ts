/** What a person may do next, in a line. */
import { doubtsAt, doubtText, type Place } from '../editor/doubt';
import type { Session } from '../editor/session';

export function advice(session: Session, places: readonly Place[]): string {
  const { frames } = session.state;
  if (session.busy === 'refining') {
    return session.network.engine ? 'Looking …' : 'Loading the model (only the first time) …';
  }
  if (session.busy === 'tracking') return 'Following. Pause where it drifts, fix it, go on.';
  if (!frames.size) return 'Drag around it, or tap it.';
  if (!session.masks) return 'No mask here yet. Follow comes to this frame; or mark the object here.';
  if (frames.size === 1) return 'Good? Press Follow. Not quite? Tap again to add or remove.';
  const doubts = doubtsAt(session.masks, session.index, places);
  if (!doubts.length) return '';
  const what = doubts.map((doubt) => `${doubtText(doubt, session.state.objects)}.`).join(' ');
  const gone = doubts.every(({ lost }) => lost);
  return `${what} ${gone ? 'Mark it again, unless it has left.' : 'Fix it here, then follow again.'}`;
}
