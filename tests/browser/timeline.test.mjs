// The cursor in time: slider, keys, steps, the board under the pointer; and cancelling a long run.
import assert from "node:assert/strict";

import { digestOf, until, visit, write } from "./page.mjs";

const live = (page) => page.locator("#live").textContent();

/** Pauses at the beginning. */
async function rewind(page) {
  await digestOf(page);
  await page.locator("#time").fill("0");
  await until(page, () => /^t = 0\.0/.test(document.querySelector("#live").textContent));
}

export const tests = {
  async "moving the slider changes the board and its words"(world) {
    const { page, faults, close } = await visit(world);
    await rewind(page);
    const before = await live(page);
    await page.locator("#time").fill("500");
    await until(page, (was) => document.querySelector("#live").textContent !== was, before);
    await until(page, () => Number(document.querySelector('[data-state="active"]').textContent) > 0);
    const counts = await page.locator("[data-state]").allTextContents();
    assert.equal(counts.map(Number).reduce((a, b) => a + b, 0), 32, "every block is counted once");
    await page.locator("#time").fill("1000");
    await until(page, () => /4 done/.test(document.querySelector("#live").textContent));
    assert.deepEqual(faults, []);
    await close();
  },

  async "keys step, play and pause"(world) {
    const { page, faults, close } = await visit(world);
    await rewind(page);
    const start = await page.locator("#clock").textContent();
    await page.keyboard.press(".");
    await until(page, (was) => document.querySelector("#clock").textContent !== was, start);
    await page.keyboard.press(",");
    await until(page, (was) => document.querySelector("#clock").textContent === was, start);
    await page.keyboard.press("Space");
    await until(page, () => document.querySelector("#play").getAttribute("aria-label") === "Pause");
    await until(page, (was) => document.querySelector("#clock").textContent !== was, start);
    await page.keyboard.press("Space");
    await until(page, () => document.querySelector("#play").getAttribute("aria-label") === "Play");
    await page.keyboard.press("End");
    await until(page, () => document.querySelector("#time").value === "1000");
    await page.keyboard.press("?");
    await page.locator("#help-dialog[open]").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#help-dialog").waitFor({ state: "detached" });
    assert.deepEqual(faults, []);
    await close();
  },

  async "the block under the pointer tells its state and owners"(world) {
    const { page, faults, close } = await visit(world);
    await rewind(page);
    await page.locator("#time").fill("500");
    await until(page, () => Number(document.querySelector('[data-state="active"]').textContent) > 0);
    await page.locator("#board canvas").hover({ position: { x: 12, y: 12 } });
    const tip = page.locator("#board .tip");
    await tip.waitFor();
    await until(page, () => /held by/.test(document.querySelector("#board .tip").textContent));
    assert.match(await tip.textContent(), /Slot 0/);
    await page.locator("#live").hover();
    await tip.waitFor({ state: "detached" });
    await page.locator("#board canvas").focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await until(page, () => /Slot 1/.test(document.querySelector("#board .tip")?.textContent));
    assert.deepEqual(faults, []);
    await close();
  },

  async "a long run shows progress and can be cancelled"(world) {
    const { page, faults, close } = await visit(world);
    await digestOf(page);
    await write(page, LONG);
    await page.click("#run");
    await until(page, () => document.querySelector("#progress")?.value > 0);
    await page.click("#cancel");
    await until(page, () => document.querySelector("#outcome")?.textContent === "cancelled");
    await page.locator("#run").waitFor();
    await page.selectOption("#case", "first-steps");
    await until(page, () => document.querySelector("#outcome")?.textContent === "finished");
    assert.deepEqual(faults, []);
    await close();
  },

  async "light and dark, at a glance and by choice"(world) {
    const { page, faults, close } = await visit(world, "", { colorScheme: "dark" });
    await digestOf(page);
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await ground();
    await page.click("#theme");
    await until(page, (was) => getComputedStyle(document.body).backgroundColor !== was, dark);
    await page.reload();
    await digestOf(page);
    assert.notEqual(await ground(), dark, "the choice is kept");
    assert.deepEqual(faults, []);
    await close();
  },

  async "nothing scrolls at 1280 by 720, and nothing is wider than a phone"(world) {
    const { page, close } = await visit(world);
    await digestOf(page);
    const over = () =>
      page.evaluate(() => {
        const { scrollWidth, clientWidth, scrollHeight, clientHeight } = document.documentElement;
        return [scrollWidth - clientWidth, scrollHeight - clientHeight];
      });
    assert.deepEqual(await over(), [0, 0]);
    await page.setViewportSize({ width: 390, height: 844 });
    assert.equal((await over())[0], 0);
    await close();
  },
};

const LONG = `tierscope = 1
title = "Long"
seed = 1
[engine]
block_size_tokens = 16
g1_blocks = 4096
[timing]
model = "fixed"
prefill_per_token_ns = 1000
decode_ns = 1000000
[workload]
kind = "synthetic"
requests = 300000
arrival = "poisson"
rate_per_s = 50.0
prompt_tokens = 200
output_tokens = 200
`;
