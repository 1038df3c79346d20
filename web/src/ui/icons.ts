/** Line drawings on a 24 x 24 grid. */
function svg(body: string): string {
  return `<svg viewBox="0 0 24 24" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${body}</svg>`;
}

export const ICONS = {
  select: svg('<circle cx="12" cy="12" r="3.2"/><path d="M12 3v3.5M12 17.5V21M3 12h3.5M17.5 12H21"/>'),
  box: svg(
    '<path d="M4 8V5.5A1.5 1.5 0 0 1 5.5 4H8M16 4h2.5A1.5 1.5 0 0 1 20 5.5V8M20 16v2.500A1.500 1.500 0 0 1 18.500 20H16M8 20H5.500A1.500 1.500 0 0 1 4 18.500V16"/>',
  ),
  brush: svg(
    '<path d="M14.500 4.500l5 5L11 18l-5-5z"/><path d="M6 13c-2 1-1.500 4.500-3.500 6.500 3.500.800 7 .500 8.500-1.500"/>',
  ),
  eraser: svg(
    '<path d="M8.500 19.500L3.800 14.800a1.600 1.600 0 0 1 0-2.300l8.200-8.200a1.600 1.600 0 0 1 2.300 0l5 5a1.600 1.600 0 0 1 0 2.300l-8 7.900z"/><path d="M8 8.500l7.300 7.300M8.500 19.500H20"/>',
  ),
  plus: svg('<path d="M12 5v14M5 12h14"/>'),
  minus: svg('<path d="M5 12h14"/>'),
  undo: svg('<path d="M8.500 5L4 9.500 8.500 14"/><path d="M4 9.500h9.500a6 6 0 0 1 0 12H10"/>'),
  redo: svg('<path d="M15.500 5L20 9.500 15.500 14"/><path d="M20 9.500h-9.500a6 6 0 0 0 0 12H14"/>'),
  play: svg('<path d="M7 4.500v15l12-7.500z" fill="currentColor"/>'),
  pause: svg('<path d="M8 5v14M16 5v14" stroke-width="3"/>'),
  next: svg('<path d="M6 5l8 7-8 7zM18 5v14"/>'),
  previous: svg('<path d="M18 5l-8 7 8 7zM6 5v14"/>'),
  follow: svg('<path d="M3 12h4M10 12h4M17 12h1"/><path d="M15.500 6.500L21 12l-5.500 5.500"/>'),
  followBack: svg('<path d="M21 12h-4M14 12h-4M7 12H6"/><path d="M8.500 6.500L3 12l5.500 5.500"/>'),
  doubt: svg('<path d="M12 4l9 15.500H3z"/><path d="M12 10v4.500M12 17v.100"/>'),
  trash: svg('<path d="M4.500 7h15M9.500 7V4.500h5V7M6.500 7l1 13h9l1-13M10 11v5.500M14 11v5.500"/>'),
  hide: svg(
    '<path d="M3 3l18 18M10.500 6.200A9.500 9.500 0 0 1 21 12a12 12 0 0 1-2.600 3.400M6.300 7.300A12 12 0 0 0 3 12c2 4 5.300 6 9 6 1.300 0 2.500-.200 3.600-.700"/>',
  ),
  open: svg(
    '<path d="M3.500 18.500v-12A1.500 1.500 0 0 1 5 5h4.500l2 2.500H19A1.500 1.500 0 0 1 20.500 9v9.500A1.500 1.500 0 0 1 19 20H5a1.500 1.500 0 0 1-1.500-1.500z"/>',
  ),
  camera: svg(
    '<rect x="3" y="6.500" width="12.500" height="11" rx="2"/><path d="M15.500 11l5.500-3.500v9L15.500 13"/>',
  ),
  export: svg('<path d="M12 4v11M7.500 10.500L12 15l4.500-4.500M4.500 19.500h15"/>'),
  help: svg(
    '<circle cx="12" cy="12" r="8.500"/><path d="M9.700 9.500a2.400 2.400 0 1 1 3.600 2.100c-.900.500-1.300 1-1.300 1.900M12 16.500v.100"/>',
  ),
  flip: svg('<path d="M4 9a8 8 0 0 1 14-3l2 2M20 4v4h-4M20 15a8 8 0 0 1-14 3l-2-2M4 20v-4h4"/>'),
  stop: svg('<rect x="7" y="7" width="10" height="10" rx="1.5" fill="currentColor"/>'),
  fit: svg('<path d="M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5"/>'),
  inPoint: svg('<path d="M9 4H5v16h4M19 12h-8M14 8l-4 4 4 4"/>'),
  outPoint: svg('<path d="M15 4h4v16h-4M5 12h8M10 8l4 4-4 4"/>'),
  save: svg('<path d="M5 4.5h11L19.500 8v11.500h-15zM8 4.500V9h7V4.500M8 19.500V14h8v5.500"/>'),
  close: svg('<path d="M6 6l12 12M18 6L6 18"/>'),
  theme: svg('<circle cx="12" cy="12" r="8.500"/><path d="M12 3.500a8.500 8.500 0 0 1 0 17z" fill="currentColor"/>'),
  sound: svg(
    '<path d="M4 9.500v5h3.500L12 19V5L7.500 9.500z"/><path d="M15.500 9a4.200 4.200 0 0 1 0 6M18 6.500a8 8 0 0 1 0 11"/>',
  ),
  muted: svg('<path d="M4 9.500v5h3.500L12 19V5L7.500 9.500z"/><path d="M16 9.500l5 5M21 9.500l-5 5"/>'),
  more: svg(
    '<path d="M4 7h9M18 7h2M4 17h2M11 17h9"/><circle cx="15.500" cy="7" r="2.300"/><circle cx="8.500" cy="17" r="2.300"/>',
  ),
  lock: svg('<rect x="5" y="10.500" width="14" height="9.500" rx="2"/><path d="M8 10.500V8a4 4 0 0 1 8 0v2.500"/>'),
} as const;
