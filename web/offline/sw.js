// Keeps the page's files, so that it opens and runs without a network. A build's files are kept as one set, named by the
// digest of all of them; files whose name holds their digest are taken from the set first, the others from the network
// while there is one. Nothing is fetched but the page's own files.
const SET = `tierscope ${self.registration.scope} `;
const PAGE = new URL("./", self.registration.scope).href;
// The page's other files are named by their digest, and by the page.
const WORKER = ["worker.js"];
const NAMED_BY_DIGEST = /^[\w-]+-[0-9a-f]{12,}(_bg)?\.(js|wasm)$/;
const PATIENCE_MS = 4000;

const nameOf = (url) => new URL(url).pathname.split("/").pop();

/** The files of a build: the page, what it names, and the worker. */
function filesOf(html) {
  const named = html.match(/[\w-]+-[0-9a-f]{12,}(_bg)?\.(js|wasm)\b/g) ?? [];
  return [...new Set(named), ...WORKER];
}

async function digestOf(bodies) {
  const all = await new Blob(bodies).arrayBuffer();
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", all));
  return [...bytes.slice(0, 8)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function sets() {
  return (await caches.keys()).filter((name) => name.startsWith(SET));
}

async function fetched(url) {
  const response = await fetch(url, { cache: "no-cache" });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return { url, headers: { "content-type": response.headers.get("content-type") ?? "" }, body: await response.arrayBuffer() };
}

/** Keeps the build that the host has now, whole or not at all; gives its page. */
async function keep() {
  const page = await fetched(PAGE);
  const html = new TextDecoder().decode(page.body);
  const files = await Promise.all(filesOf(html).map((name) => fetched(new URL(name, PAGE).href)));
  const all = [page, ...files];
  const name = SET + (await digestOf(all.map((file) => file.body)));
  const before = await sets();
  if (!before.includes(name)) {
    const set = await caches.open(name);
    try {
      await Promise.all(all.map((file) => set.put(file.url, new Response(file.body, { headers: file.headers }))));
    } catch (error) {
      await caches.delete(name);
      throw error;
    }
  }
  await Promise.all(before.filter((other) => other !== name).map((other) => caches.delete(other)));
  return html;
}

async function kept(url) {
  for (const name of await sets()) {
    const found = await (await caches.open(name)).match(url);
    if (found) return found;
  }
  return undefined;
}

/** What a file's address is without its query: `?embed=1` is the same page. */
function plain(url) {
  const { origin, pathname } = new URL(url);
  return origin + (pathname.endsWith("/index.html") ? pathname.slice(0, -"index.html".length) : pathname);
}

async function answer(request) {
  const own = await kept(plain(request.url));
  if (!own) return fetch(request);
  if (NAMED_BY_DIGEST.test(nameOf(request.url))) return own;
  const late = new Promise((resolve) => setTimeout(() => resolve(null), PATIENCE_MS));
  const there = await Promise.race([fetch(request).catch(() => null), late]);
  return there && there.ok ? there : own;
}

self.addEventListener("install", (event) => {
  event.waitUntil(keep().then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  event.waitUntil(self.clients.claim());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && request.url.startsWith(PAGE)) event.respondWith(answer(request));
});

// A page tells which file it is made of; when the host's build has another, it hears so.
self.addEventListener("message", (event) => {
  const check = async () => {
    const html = await keep().catch(() => null);
    if (html && !html.includes(nameOf(event.data))) event.source.postMessage("update");
  };
  event.waitUntil(check());
});
