/** What the unit tests look at. */
export { half, ModelFiles } from '../src/engine/model';
export { anchorOf, track } from '../src/editor/track';
export { History } from '../src/editor/history';
export { Network } from '../src/editor/network';
export { Pace } from '../src/editor/pace';
export { Player } from '../src/editor/player';
export { Session } from '../src/editor/session';
export { drawObject, isVisible, planeOf, planesOf, removeObject, trust } from '../src/editor/state';
export { annotatedArea, confidences } from '../src/tracking/confidence';
export { fit, padFrame, reducePlane } from '../src/tracking/geometry';
export { drawMarks, markRadius, noMarks } from '../src/tracking/marks';
export { joined, lessened } from '../src/tracking/mend';
export { pack, resizePlane, unpack, winners } from '../src/tracking/planes';
