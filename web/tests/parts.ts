/** What the unit tests look at. */
export { half, ModelFiles } from '../src/engine/model';
export { anchorOf, knownAt, LOST_FRAMES, startOf, track } from '../src/editor/track';
export { changes } from '../src/editor/autosave';
export { ALARM, findAlarms } from '../src/editor/alarm';
export { doubtsAt, doubtText, placeAfter, placesToCheck, placeText } from '../src/editor/doubt';
export { restore, settingsOf } from '../src/editor/kept';
export { isProject, projectParts, readProject } from '../src/editor/project';
export { followed, jobOf, leftToFollow, partOf } from '../src/editor/tracked';
export { labelsOf, trackedVideo } from '../src/export/tracked';
export { cleaned, matte, SPECK, USUAL_EDGES } from '../src/export/edges';
export { beside, occupied } from '../src/ui/beside';
export { Lens } from '../src/ui/lens';
export { History } from '../src/editor/history';
export { Network } from '../src/editor/network';
export { Pace } from '../src/editor/pace';
export { Player } from '../src/editor/player';
export { Session } from '../src/editor/session';
export { drawObject, isVisible, planeOf, planesOf, removeObject, trust, withFound } from '../src/editor/state';
export { confidences } from '../src/tracking/confidence';
export { CONSTRAINTS, obeyed } from '../src/tracking/constraints';
export {
  fit,
  isOf,
  padFrame,
  rasterOf,
  rasterOfAll,
  reducePlane,
  scaleOf,
  shown,
  widened,
  windowOf,
} from '../src/tracking/geometry';
export { drawMarks, markRadius, noMarks } from '../src/tracking/marks';
export { PARTS, strays } from '../src/tracking/parts';
export { pack, resample, unpack, winners } from '../src/tracking/planes';
export { alike, annotatedCells, keysOf, someCells } from '../src/tracking/recall';
export { emptyMemory, nearness, oldestSlot, SLOTS, written } from '../src/tracking/step';
export { Tracker } from '../src/tracking/tracker';
export * from '../src/tracking/window';
