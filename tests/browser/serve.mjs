// A static server for dist/, as plain as a static host: it serves files and nothing else.
// As a command: node serve.mjs [folder] [port]
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import http from "node:http";
import path from "node:path";
import { fileURLToPath } from "node:url";

const TYPES = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** The file that a request means; null when there is none in the folder. */
async function fileOf(root, url) {
  let name;
  try {
    name = decodeURIComponent(new URL(url, "http://host").pathname);
  } catch {
    return null;
  }
  const file = path.join(root, name.endsWith("/") ? `${name}index.html` : name);
  const inside = file.startsWith(root + path.sep);
  const found = inside && (await stat(file).catch(() => null));
  return found && found.isFile() ? file : null;
}

/** Serves a folder on a free port; gives its address and how to stop. */
export async function serve(folder, port = 0) {
  const root = path.resolve(folder);
  const server = http.createServer(async (request, response) => {
    const file = await fileOf(root, request.url ?? "/");
    if (!file) {
      response.writeHead(404).end("not found");
      return;
    }
    const type = TYPES[path.extname(file)] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type, "cache-control": "no-store" });
    createReadStream(file).pipe(response);
  });
  await new Promise((listening, failed) => {
    server.once("error", failed);
    server.listen(port, "127.0.0.1", listening);
  });
  const stop = () => {
    server.closeAllConnections();
    return new Promise((closed) => server.close(closed));
  };
  return { url: `http://127.0.0.1:${server.address().port}/`, stop };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await serve(process.argv[2] ?? "dist", Number(process.argv[3] ?? 8080));
  console.log(url);
}
