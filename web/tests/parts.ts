/** What the unit tests look at. */
export { half, ModelFiles } from '../src/engine/model';
export { nearestDrawn } from '../src/editor/track';
export { History } from '../src/editor/history';
export { Pace } from '../src/editor/pace';
export { drawObject, planeOf, planesOf, removeObject, trust } from '../src/editor/state';
export { annotatedArea, confidences } from '../src/tracking/confidence';
export { fit, padFrame, reducePlane } from '../src/tracking/geometry';
export { drawMarks, markRadius, noMarks } from '../src/tracking/marks';
export { joined, lessened } from '../src/tracking/mend';
export { pack, resizePlane, unpack, winners } from '../src/tracking/planes';
