const RELOADED = 'reloaded for isolation';

/**
 * Keep the app on the device, so that it starts without a network, and up to date: a new version is fetched while this
 * one works, and starts with the next visit.
 *
 * Called first thing on the page: on a host that does not send the headers for threads it reloads the page once, before
 * any work has begun, because only a page that came through the service worker has them there. Where service workers
 * are missing the app runs as well, only not offline.
 */
export function registerServiceWorker(): void {
  if (!('serviceWorker' in navigator) || !import.meta.env.PROD) return;
  start().catch((error: unknown) => console.warn('The app cannot be kept for offline use:', error));
}

async function start(): Promise<void> {
  const workers = navigator.serviceWorker;
  await workers.register(new URL('sw.js', document.baseURI), { updateViaCache: 'none' });
  await workers.ready;
  if (!workers.controller) await new Promise((resolve) => workers.addEventListener('controllerchange', resolve));
  if (!crossOriginIsolated && !sessionStorage.getItem(RELOADED)) {
    sessionStorage.setItem(RELOADED, 'yes'); // once only: some browsers never isolate
    location.reload();
    return;
  }
  workers.controller?.postMessage('update');
}

/** Files that not every device needs, but this one does: they are there without a network, too. */
export function keepForOffline(files: string[]): void {
  if (!('serviceWorker' in navigator) || !import.meta.env.PROD) return;
  void navigator.serviceWorker.ready.then(({ active }) => active?.postMessage({ keep: files }));
}
