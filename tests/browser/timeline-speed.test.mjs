// A run of more than a million facts: the timeline pans and zooms through it at 60 frames a second, and shows of its thousands of
// requests those for which there is room.
import assert from "node:assert/strict";

import { digestOf, until, visit, write } from "./page.mjs";

/** `tierscope run --events` on it writes more than 1.2 million lines. */
const MILLION = `tierscope = 1
title = "A million facts"
seed = 1
[engine]
block_size_tokens = 16
g1_blocks = 300
max_num_seqs = 16
[g2]
blocks = 4_000
[timing]
model = "fixed"
prefill_per_token_ns = 20_000
decode_ns = 5_000_000
[workload]
kind = "synthetic"
requests = 7_000
arrival = "poisson"
rate_per_s = 10.0
prompt_tokens = 160
output_tokens = 200
`;

/** A frame of 60 in a second. */
const FRAME_MS = 1000 / 60;

/** The middle and the 95th of a hundred. */
function spread(all) {
  const sorted = [...all].sort((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
  return { median: at(0.5), p95: at(0.95) };
}

export const tests = {
  async "a million facts pan and zoom at 60 frames a second"(world) {
    const { page, faults, close } = await visit(world);
    await digestOf(page);
    await write(page, MILLION);
    await page.click("#run");
    await digestOf(page);
    await page.locator("#tracks-canvas[data-paint-ms]").waitFor();
    const passes = Number(/([\d\u202f]+) passes/.exec(await page.locator(".panel--board").textContent())[1].replaceAll("\u202f", ""));
    assert.ok(passes > 120_000, `${passes} passes: each begins and ends, and makes blocks, copies and evictions`);
    await page.keyboard.press("Home");
    const frames = await page.evaluate(async () => {
      const canvas = document.querySelector("#tracks-canvas");
      const { left, top, width } = canvas.getBoundingClientRect();
      const frame = () => new Promise((drawn) => requestAnimationFrame(drawn));
      const turn = (deltaY, shiftKey, share) =>
        canvas.dispatchEvent(
          new WheelEvent("wheel", { deltaY, shiftKey, clientX: left + width * share, clientY: top + 60, bubbles: true, cancelable: true }),
        );
      const work = [];
      const paints = [];
      const intervals = [];
      // In, along, out again; and along the whole run.
      const moves = [
        ...Array(80).fill([-60, false, 0.31]),
        ...Array(60).fill([90, true, 0.5]),
        ...Array(80).fill([60, false, 0.72]),
        ...Array(40).fill([-45, false, 0.5]),
        ...Array(60).fill([70, true, 0.5]),
      ];
      let before = await frame();
      for (const [delta, shift, share] of moves) {
        canvas.removeAttribute("data-paint-ms");
        const begun = performance.now();
        turn(delta, shift, share);
        // The page draws when the browser comes to it: in a task of its own before the next frame.
        while (!canvas.hasAttribute("data-paint-ms") && performance.now() - begun < 200) {
          await new Promise((next) => {
            const { port1, port2 } = new MessageChannel();
            port1.onmessage = next;
            port2.postMessage(0);
          });
        }
        work.push(performance.now() - begun);
        const painted = Number(canvas.getAttribute("data-paint-ms"));
        if (painted > 0) paints.push(painted);
        const now = await frame();
        intervals.push(now - before);
        before = now;
      }
      return { work, paints, intervals };
    });
    assert.ok(frames.paints.length > 250, `${frames.paints.length} frames were painted`);
    const [work, paint, interval] = [frames.work, frames.paints, frames.intervals].map(spread);
    const ms = ({ median, p95 }) => `${median.toFixed(1)} ms (p95 ${p95.toFixed(1)} ms)`;
    console.log(`     ${frames.work.length} frames: paint ${ms(paint)}, all work ${ms(work)}, between frames ${ms(interval)}`);
    assert.ok(work.median <= FRAME_MS, `the median frame takes ${work.median.toFixed(1)} ms of work`);

    // Of thousands of requests there are only as many names as there is room for. Their group lies below the lanes.
    const names = await page.locator("#tracks-canvas").boundingBox();
    await page.mouse.move(names.x - 40, names.y + 100);
    while ((await page.locator('[data-group="Requests"]').count()) === 0) {
      const before = await page.evaluate(() => document.querySelector(".tracks__bar").scrollTop);
      await page.mouse.wheel(0, 60);
      await until(page, (was) => document.querySelector(".tracks__bar").scrollTop > was, before);
    }
    assert.match(await page.locator('[data-group="Requests"]').textContent(), /7.000/);
    assert.ok((await page.locator(".tracks__label").count()) < 60);
    await page.keyboard.press("/");
    await page.keyboard.type("request 6543");
    await page.keyboard.press("Enter");
    await page.locator('.tracks__label--chosen[data-track="Request 6543"]').waitFor();
    await page.locator('[data-track="Request 6543"]').hover();
    const canvas = await page.locator("#tracks-canvas").boundingBox();
    await page.mouse.move(canvas.x - 40, canvas.y + 50);
    await page.mouse.wheel(0, 2000);
    await page.locator('[data-track="Request 6543"]').waitFor({ state: "detached" });
    assert.ok((await page.locator(".tracks__label").count()) < 60);
    await until(page, () => Number(document.querySelector(".tracks__bar").scrollTop) > 100_000);
    assert.deepEqual(faults, []);
    await close();
  },
};
