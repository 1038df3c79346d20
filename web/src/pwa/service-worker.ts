/**
 * The app on the device.
 *
 * A version is a list of files with the hashes of their content (`files` in `files.json`, written by the build), and
 * files are kept by hash. So a new version fetches only what changed and is checked byte for byte; when all of it is
 * there, one write makes it the one that the next page gets. A page, and the workers it starts, keep the version they
 * began with.
 *
 * Some files are needed on some devices only, such as one of two builds of the engine, or a sample (`later` in
 * `files.json`): those are kept when the page has asked for them, or says that it uses them.
 *
 * Every answer carries the headers that let the page use threads, whatever the host sends.
 */

interface LastingEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface FetchEvent extends LastingEvent {
  readonly request: Request;
  readonly clientId: string;
  /** Of the page or worker that the answer will become; empty for all other requests. */
  readonly resultingClientId: string;
  respondWith(response: Promise<Response>): void;
}

interface ServiceWorkerScope {
  readonly registration: ServiceWorkerRegistration;
  readonly clients: { claim(): Promise<void>; get(id: string): Promise<unknown> };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', listener: (event: LastingEvent) => void): void;
  addEventListener(type: 'message', listener: (event: LastingEvent & MessageEvent<unknown>) => void): void;
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void;
}

/** A version, as it is kept: path below the scope, SHA-256 of the content. */
type Files = Record<string, string>;

/** What the page says. */
type Message = 'update' | { keep: string[] };

declare const self: ServiceWorkerScope;

const SCOPE = self.registration.scope;
const CACHE = `mobilevos ${SCOPE}`;
const READY = key('version', 'ready');
const ISOLATION = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
let updating: Promise<void> | undefined;
/** What the page says that it uses of the files for later. */
const inUse = new Set<string>();

self.addEventListener('install', (event) => event.waitUntil(self.skipWaiting()));
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));

self.addEventListener('message', (event) => {
  const message = event.data as Message;
  if (message !== 'update') {
    event.waitUntil(keepUsed(message.keep).catch(() => undefined));
    return;
  }
  // Offline, or the host is just being changed: what is there stays, and the next visit tries again.
  updating ??= update()
    .catch(() => undefined)
    .finally(() => (updating = undefined));
  event.waitUntil(updating);
});

self.addEventListener('fetch', (event) => {
  const { method, url } = event.request;
  if (method === 'GET' && new URL(url).origin === new URL(SCOPE).origin) event.respondWith(answer(event));
});

async function answer(event: FetchEvent): Promise<Response> {
  const { origin, pathname } = new URL(event.request.url);
  const path = origin + pathname;
  if (path.startsWith(SCOPE)) {
    const cache = await caches.open(CACHE);
    const file = path.slice(SCOPE.length) || 'index.html';
    const hash = (await versionFor(event, cache))[file];
    const kept = hash && (await cache.match(key('sha256', hash)));
    if (kept) return kept;
    // Asked for later: from now on it is there. Where it is another version's, whoever asked gets it, but not kept.
    const found = hash && (await keep(cache, file, hash).catch(() => undefined));
    if (found) return found;
  }
  return isolated(await fetch(event.request));
}

/** That of the page or worker that asks; for a new page the newest that is complete. */
async function versionFor({ request, clientId, resultingClientId }: FetchEvent, cache: Cache): Promise<Files> {
  const begun = request.mode !== 'navigate' && (await cache.match(key('client', clientId)));
  const kept = begun || (await cache.match(READY));
  if (kept && resultingClientId) await cache.put(key('client', resultingClientId), kept.clone());
  return kept ? ((await kept.json()) as Files) : {};
}

async function update(): Promise<void> {
  const list = await fetch(new URL('files.json', SCOPE), { cache: 'no-cache' });
  if (!list.ok) return;
  const { files, later = [] } = (await list.json()) as { files: Files; later?: string[] };
  const cache = await caches.open(CACHE);
  const before = await cache.match(READY);
  const old = before ? ((await before.json()) as Files) : {};
  for (const [file, hash] of Object.entries(files)) {
    const used =
      !later.includes(file) || inUse.has(file) || (old[file] && (await cache.match(key('sha256', old[file]))));
    if (used && !(await cache.match(key('sha256', hash)))) await keep(cache, file, hash);
  }
  await cache.put(READY, new Response(JSON.stringify(files)));
  await forgetUnused(cache);
}

/** Keep files that the page has used before this worker could see it: those of the newest version, now or with it. */
async function keepUsed(addresses: string[]): Promise<void> {
  const used = addresses.filter((url) => url.startsWith(SCOPE)).map((url) => url.slice(SCOPE.length));
  for (const file of used) inUse.add(file);
  await updating;
  const cache = await caches.open(CACHE);
  const ready = await cache.match(READY);
  const files = ready ? ((await ready.json()) as Files) : {};
  for (const file of used) {
    if (files[file] && !(await cache.match(key('sha256', files[file])))) await keep(cache, file, files[file]);
  }
}

async function keep(cache: Cache, file: string, hash: string): Promise<Response> {
  const response = await fetch(new URL(file, SCOPE), { cache: 'no-cache' });
  const content = await response.arrayBuffer();
  if (!response.ok || (await sha256(content)) !== hash) throw new Error(`${file} is not of this version`);
  const headers = {
    'Content-Type': response.headers.get('Content-Type') ?? 'application/octet-stream',
    'Content-Length': String(content.byteLength),
    ...ISOLATION,
  };
  const kept = new Response(content, { headers });
  await cache.put(key('sha256', hash), kept.clone());
  return kept;
}

/** Delete what neither the newest version nor that of a living page needs. */
async function forgetUnused(cache: Cache): Promise<void> {
  const needed = new Set([READY]);
  const requests = await cache.keys();
  for (const { url } of requests) {
    const client = new URL(url).searchParams.get('client');
    if (url !== READY && (client === null || !(await self.clients.get(client)))) continue;
    needed.add(url);
    const files = (await (await cache.match(url))!.json()) as Files;
    for (const hash of Object.values(files)) needed.add(key('sha256', hash));
  }
  for (const request of requests) if (!needed.has(request.url)) await cache.delete(request);
}

function isolated(response: Response): Response {
  if (response.status === 0) return response; // a redirect that the browser follows itself
  const headers = new Headers(response.headers);
  for (const [name, value] of Object.entries(ISOLATION)) headers.set(name, value);
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers });
}

/** An address in the cache that no file has. */
function key(kind: 'sha256' | 'client' | 'version', value: string): string {
  return new URL(`?${kind}=${value}`, SCOPE).href;
}

async function sha256(content: ArrayBuffer): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', content));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export {};
