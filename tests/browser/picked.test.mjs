// What is picked out: a request and why it waits, a block and its story, a transfer, by pointer and by key.
import assert from "node:assert/strict";

import { digestOf, text, until, visit } from "./page.mjs";

/** Opens a case of the gallery and waits for its end. */
async function open(world, name, options = {}) {
  const visited = await visit(world, "", options);
  await digestOf(visited.page);
  await visited.page.selectOption("#case", name);
  await digestOf(visited.page);
  return visited;
}

/** Stops the cursor at a share of the run, in thousandths. */
async function seek(page, at) {
  await page.locator("#time").fill(String(at));
  await until(page, () => document.querySelector("#play").getAttribute("aria-label") === "Play");
}

/** Waits until an element says so. */
function says(page, selector, pattern) {
  const condition = ([where, source]) => new RegExp(source).test(document.querySelector(where)?.textContent ?? "");
  return until(page, condition, [selector, pattern.source]);
}

export const tests = {
  async "from a waiting request it is two clicks to its reason and to what lies behind it"(world) {
    const { page, faults, close } = await open(world, "blocked-on-offload");
    await page.selectOption("#txn-outcome", "blocked");
    await seek(page, 0);
    await page.locator("#txn-none").waitFor();
    await page.click("#txn-next");
    await says(page, ".census", /end of transfer 0/);
    // One: the row of the census.
    await page.locator(".census__row", { hasText: "waiting" }).first().locator("td").first().click();
    await says(page, "#picked-reason", /^Waits for transfer 0 \(G1→G2, 4 blocks\), its end expected at .*; 6 blocks are missing, because of the 6 that it needs some slots hold evicted content that the copy still reads\.$/);
    assert.equal(await text(page, "#picked-name"), "Request 1");
    assert.equal(await page.locator('.census__row[aria-current="true"]').count(), 1);
    // Two: the copy behind it.
    await page.click("#picked-copy");
    await says(page, "#picked-name", /^Transfer 0$/);
    await says(page, "#picked-reason", /Transfer 0 carries 4 blocks from G1 to G2: they were evicted.*Who waits for it: request 1\./);
    assert.equal(await page.locator("#picked-phases li").count(), 3);
    // Whoever waits is a name that leads back.
    await page.locator('#picked [data-pick="request.1"]').first().click();
    await says(page, "#picked-name", /^Request 1$/);
    await page.click("#picked-txn");
    await says(page, "#txn-outcome-name", /blocked on offload/);
    await page.keyboard.press("Escape");
    await page.locator("#picked").waitFor({ state: "detached" });
    assert.deepEqual(faults, []);
    await close();
  },

  async "a click on a block tells its story, and times in it move the cursor"(world) {
    const { page, faults, close } = await open(world, "shared-prefix");
    await seek(page, 500);
    await until(page, () => Number(document.querySelector('[data-state="shared"]').textContent) > 0);
    await page.locator("#board canvas").first().click({ position: { x: 8, y: 8 } });
    await page.locator("#picked-story li").first().waitFor();
    assert.match(await text(page, "#picked-name"), /^Block [0-9a-f]{16}$/);
    assert.match(await text(page, "#picked-story li:first-child"), /stored in G1 by request \d+/);
    assert.match(await text(page, "#picked-story"), /hit by request \d+.*released by request \d+/);
    assert.match(await text(page, "#picked-here"), /G1 slot 0: held by request/);
    const before = await text(page, "#clock");
    const time = page.locator("#picked-story .picked__time").first();
    const at = (await time.textContent()).trim();
    await time.click();
    await until(page, (was) => document.querySelector("#clock").textContent !== was, before);
    assert.ok((await text(page, "#clock")).startsWith(at));
    // A holder's name leads to its life.
    await page.locator('#picked-story [data-pick^="request."]').first().click();
    await says(page, "#picked-life", /prefill for .*decode for .*finished/);
    assert.deepEqual(faults, []);
    await close();
  },

  async "the keyboard walks over the blocks and selects one"(world) {
    const { page, faults, close } = await open(world, "shared-prefix");
    await seek(page, 500);
    await page.locator("#board canvas").first().focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await until(page, () => /Slot 1/.test(document.querySelector("#board .tip")?.textContent));
    await page.keyboard.press("Enter");
    await page.locator("#picked-story li").first().waitFor();
    assert.match(await text(page, "#picked-here"), /slot 1:/);
    await page.keyboard.press("Escape");
    await page.locator("#picked").waitFor({ state: "detached" });
    assert.deepEqual(faults, []);
    await close();
  },

  async "the board is a table as well"(world) {
    const { page, faults, close } = await open(world, "blocked-on-offload");
    await seek(page, 1000);
    await page.click("#board-table");
    assert.equal(await page.locator("#board-cells tbody tr").count(), 8);
    assert.equal(await page.locator("#board-lanes tbody tr").count(), 2);
    await page.locator(".board__pages button", { hasText: "G2" }).click();
    await until(page, () => document.querySelectorAll("#board-cells tbody tr").length === 100);
    assert.match(await text(page, "#board-cells tbody tr:first-child"), /resident/);
    await page.locator("#board-cells tbody button").first().click();
    await says(page, "#picked-story", /copied to G2/);
    await page.click("#board-table");
    await page.locator('[data-tier="G2"] canvas').waitFor();
    assert.deepEqual(faults, []);
    await close();
  },

  async "who waits in a circle says what it lacks and who has it"(world) {
    const { page, faults, close } = await open(world, "hold-and-wait");
    await page.locator(".census__row").first().waitFor();
    await page.locator(".census__row .pick").first().click();
    await says(page, "#picked-reason", /^Request 0 lacks 1 block, and request 1 holds \d+\. Nothing will wake it\.$/);
    await page.keyboard.press("Escape");
    await page.locator("#picked").waitFor({ state: "detached" });
    assert.deepEqual(faults, []);
    await close();
  },
};
