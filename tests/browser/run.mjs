// Runs every *.test.mjs in this folder and closes with one line: N passed, N failed.
// As a command: node run.mjs [part of a test's name]
import { readdir } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { start } from "./page.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const only = process.argv[2] ?? "";
const files = (await readdir(here)).filter((name) => name.endsWith(".test.mjs")).sort();

const world = await start();
let passed = 0;
let failed = 0;
try {
  for (const file of files) {
    const { tests } = await import(`./${file}`);
    for (const [name, test] of Object.entries(tests)) {
      if (!name.includes(only)) continue;
      const begun = performance.now();
      const report = (mark) => console.log(`${mark} ${file}: ${name} (${((performance.now() - begun) / 1000).toFixed(1)} s)`);
      try {
        await test(world);
        passed += 1;
        report("ok  ");
      } catch (error) {
        failed += 1;
        report("FAIL");
        console.log(String(error?.stack ?? error).replace(/^/gm, "     "));
      }
    }
  }
} finally {
  await world.stop();
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
