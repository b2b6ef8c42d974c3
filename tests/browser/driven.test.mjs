// A driven run: recorded by the command with a real disk, dropped onto the page, replayed, compared, edited, shared.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { drop } from "./import.test.mjs";
import { digestOf, read, ROOT, text, until, visit, write } from "./page.mjs";

const SCENARIO = path.join(ROOT, "crates/cli/tests/drive/three_tiers.toml");
const CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };

/** A recording by the command, and the digest that the command gives to it; null where there is no command. */
async function recorded() {
  const binary = process.env.TIERSCOPE_BINARY;
  if (!binary) {
    console.log("     TIERSCOPE_BINARY is not set: nothing records a run");
    return null;
  }
  const folder = await mkdtemp(path.join(os.tmpdir(), "tierscope-driven-"));
  const run = promisify(execFile);
  try {
    const file = path.join(folder, "run.jsonl");
    const disk = path.join(folder, "blocks");
    await run(binary, ["drive", SCENARIO, "--clock", "skip", "--g3", disk, "--block-bytes", "4096", "--record", file, "--quiet"]);
    const { stdout } = await run(binary, ["run", file, "--digest"]);
    const recording = await readFile(file, "utf8");
    return { recording, disk, digest: /[0-9a-f]{32}/.exec(stdout)[0], ends: recording.trim().split("\n").length - 2 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The page with a driven run on it, replayed to its end. */
async function open(world, options = {}) {
  const driven = await recorded();
  if (!driven) return null;
  const visited = await visit(world, "", options);
  await digestOf(visited.page);
  await drop(visited.page, "run.jsonl", driven.recording);
  await until(visited.page, () => /digest/.test(document.querySelector("#driven-details")?.textContent));
  return { ...visited, ...driven };
}

/** Puts another seed into the text. */
async function reseed(page) {
  await write(page, (await read(page)).replace("seed = 11", "seed = 12"));
}

export const tests = {
  async "a recording is dropped: its line, its digest, any time of it"(world) {
    const driven = await open(world);
    if (!driven) return;
    const { page, faults, close } = driven;
    assert.equal(await digestOf(page), driven.digest, "what the command says of it");
    const sentence = await text(page, "#driven-sentence");
    // Of a long path its end is shown.
    assert.ok(/^Driven on host memory, disk /.test(sentence) && sentence.includes(driven.disk.slice(-16)), sentence);
    assert.ok(sentence.includes(`${driven.ends.toLocaleString("en-US")} copies ended as real tiers told`), sentence);
    assert.match(await text(page, "#driven-details"), /^blocks of 4\.1 kB for the scenario's .* · digest as recorded$/);
    assert.match(await read(page), /title = "Three short tiers, driven"/);
    assert.match(await text(page, ".title__standing"), /replayed/);
    // The cursor, a step and the inspector are as ever.
    await page.keyboard.press("Home");
    await until(page, () => /t = 0\.000 s: 0 running/.test(document.querySelector("#live").textContent));
    await page.keyboard.press(".");
    await page.keyboard.press("End");
    await until(page, () => /80 done/.test(document.querySelector("#live").textContent));
    await page.locator("#inspector, .inspector").first().waitFor();
    // A second replay is the same.
    await page.click("#run");
    assert.equal(await digestOf(page), driven.digest);
    assert.deepEqual(faults, []);
    await close();
  },

  async "a driven run is compared with its simulation, under one cursor"(world) {
    const driven = await open(world);
    if (!driven) return;
    const { page, faults, close } = driven;
    await page.click("#driven-compare");
    await page.locator("#parting").waitFor();
    assert.match(await text(page, "#parting"), /\bA .*\bB /);
    assert.match(await text(page, "#compare-b"), /the simulation of A, which was driven/);
    assert.match(await text(page, '#duel [data-side="A"] h3'), /as driven.*finished/);
    assert.match(await text(page, '#duel [data-side="B"] h3'), /its simulation.*finished/);
    assert.match(await text(page, "#no-seeds"), /one seed/);
    await page.locator("#duel-time").fill("500");
    await until(page, () => document.querySelector('#duel-totals [data-line="Done"]').children[2].textContent !== "–");
    // From the cursor nothing can be told.
    await page.click("#compare-change");
    assert.ok(await page.locator("#what-if-cursor").isDisabled());
    await page.locator("#not-from-cursor").waitFor();
    // What if, from the beginning: B is simulated.
    await page.locator("#what-if-g2-blocks").fill("600");
    await page.click("#what-if-go");
    await until(page, () => /simulated, g2\.blocks=600/.test(document.querySelector('#duel [data-side="B"] h3')?.textContent));
    await page.locator("#differences").waitFor();
    await page.click("#compare-end");
    await page.locator("#duel").waitFor({ state: "detached" });
    assert.equal(await digestOf(page), driven.digest);
    assert.deepEqual(faults, []);
    await close();
  },

  async "an edit leaves the recording behind, and there is a way back"(world) {
    const driven = await open(world);
    if (!driven) return;
    const { page, faults, close } = driven;
    await reseed(page);
    await until(page, () => /Run simulates it/.test(document.querySelector("#driven-details").textContent));
    await page.click("#run");
    await until(page, () => /was changed: this is a simulation/.test(document.querySelector("#driven-sentence").textContent));
    assert.notEqual(await digestOf(page), driven.digest);
    assert.match(await text(page, ".title__standing"), /simulated/);
    await page.click("#driven-back");
    await until(page, () => /digest as recorded/.test(document.querySelector("#driven-details").textContent));
    assert.equal(await digestOf(page), driven.digest);
    await page.selectOption("#case", "first-steps");
    await page.locator("#driven").waitFor({ state: "detached" });
    assert.deepEqual(faults, []);
    await close();
  },

  async "a link to a driven run says that it has the scenario alone"(world) {
    const driven = await open(world, CLIPBOARD);
    if (!driven) return;
    const { page, faults, close } = driven;
    await page.click("#share");
    assert.match(await text(page, "#copy-link"), /a link cannot hold a recording/);
    await page.click("#copy-link");
    await until(page, () => /cannot hold a recording/.test(document.querySelector("#notice")?.textContent));
    const link = await page.evaluate(() => navigator.clipboard.readText());
    await page.click("#share");
    await page.click("#copy-command");
    await until(page, () => /Command line copied/.test(document.querySelector("#notice")?.textContent));
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "tierscope run 'run.jsonl'");
    const other = await visit(world, new URL(link).hash);
    assert.notEqual(await digestOf(other.page), driven.digest, "it is the simulation");
    assert.equal(await other.page.locator("#driven").count(), 0);
    assert.equal(await other.page.locator(".notice--trouble").count(), 0, "and no digest is missed");
    assert.deepEqual([...faults, ...other.faults], []);
    await other.close();
    await close();
  },

  async "a recording that is stopped, changed or cut says so"(world) {
    const driven = await open(world);
    if (!driven) return;
    const { page, faults, close } = driven;
    const lines = driven.recording.trim().split("\n");
    const kept = lines.slice(0, 200);
    const stopped = JSON.parse(kept.at(-1)).at_ns + 1;
    const foot = JSON.stringify({ ends: kept.length - 1, stopped_ns: stopped, digest: "0".repeat(32) });
    await drop(page, "stopped.jsonl", [...kept, foot, ""].join("\n"));
    await until(page, () => /stopped at .* · not the recorded digest/.test(document.querySelector("#driven-details").textContent));
    assert.equal(await text(page, "#outcome"), "stopped");
    assert.match(await text(page, "#notice"), /not what was driven.*been changed\?/);
    await page.click("#notice button");
    // A cut one stays in the dialog, with its place and a mend; what is shown stays.
    await drop(page, "cut.jsonl", lines.slice(0, 150).join("\n"));
    await until(page, () => /cut\.jsonl cannot be replayed/.test(document.querySelector("#recording-state")?.textContent));
    assert.match(await text(page, "#driven-sentence"), /199 copies ended/, "the one before is kept");
    assert.match(await text(page, ".import__faults"), /line 151.*found the end of the text.*→ drive the run again with --record/);
    await page.keyboard.press("Escape");
    await page.selectOption("#case", "preemption");
    assert.match(await digestOf(page), /^[0-9a-f]{32}$/);
    assert.deepEqual(faults, []);
    await close();
  },
};
