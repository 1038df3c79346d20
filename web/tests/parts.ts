/** What the unit tests look at. */
export { half, ModelFiles } from '../src/engine/model';
export { anchorOf, knownAt, LOST_FRAMES, startOf, track } from '../src/editor/track';
export { followed, trackedVideo } from '../src/editor/tracked';
export { History } from '../src/editor/history';
export { Network } from '../src/editor/network';
export { Pace } from '../src/editor/pace';
export { Player } from '../src/editor/player';
export { Session } from '../src/editor/session';
export { drawObject, isVisible, planeOf, planesOf, removeObject, trust, withFound } from '../src/editor/state';
export { confidences, sizeOf } from '../src/tracking/confidence';
export { CONSTRAINTS, obeyed } from '../src/tracking/constraints';
export { fit, padFrame, rasterOf, rasterOfAll, reducePlane, scaleOf, windowOf } from '../src/tracking/geometry';
export { drawMarks, markRadius, noMarks } from '../src/tracking/marks';
export { PARTS, strays } from '../src/tracking/parts';
export { pack, resample, unpack, winners } from '../src/tracking/planes';
export { emptyMemory, nearness, oldestSlot, SLOTS, written } from '../src/tracking/step';
export { Tracker } from '../src/tracking/tracker';
export * from '../src/tracking/window';
