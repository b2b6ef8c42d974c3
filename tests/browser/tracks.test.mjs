// The tracks of the timeline: zoom, pan, pick, span, pin, fold, search, read as a table, and step fact by fact.
import assert from "node:assert/strict";

import { digestOf, text, until, visit } from "./page.mjs";

/** Opens a case of the gallery, waits for its tracks, and pauses at a share of the run in thousandths. */
async function open(world, name = "first-steps", at = 0) {
  const visited = await visit(world);
  const { page } = visited;
  await digestOf(page);
  if (name !== "first-steps") {
    await page.selectOption("#case", name);
    await page.locator("#run").waitFor();
    await digestOf(page);
  }
  await page.locator("#tracks-canvas[data-paint-ms]").waitFor();
  await page.locator("#time").fill(String(at));
  await until(page, () => document.querySelector("#play").getAttribute("aria-label") === "Play");
  return visited;
}

/** How much of the run is seen, as the corner of the tracks says it. */
const seen = (page) => text(page, ".tracks__corner");

/** Waits until another length of time is seen. */
const seesOther = (page, was) => until(page, (was) => document.querySelector(".tracks__corner").textContent !== was, was);

const label = (name) => `.tracks__label[data-track="${name}"]`;

/** The middle of a track's row in the picture, at a share of its width. */
async function spot(page, name, share) {
  const row = await page.locator(label(name)).boundingBox();
  const plot = await page.locator("#tracks-canvas").boundingBox();
  return [plot.x + plot.width * share, row.y + row.height / 2];
}

/** The colours of a track's row in the picture. */
async function coloursOf(page, name) {
  const [, y] = await spot(page, name, 0);
  const plot = await page.locator("#tracks-canvas").boundingBox();
  return page.evaluate((y) => {
    const canvas = document.querySelector("#tracks-canvas");
    const ratio = canvas.width / canvas.clientWidth;
    const { data } = canvas.getContext("2d").getImageData(0, Math.round(y * ratio), canvas.width, 1);
    const colours = new Set();
    for (let at = 0; at < data.length; at += 4) colours.add(data.slice(at, at + 3).join());
    return [...colours];
  }, y - plot.y);
}

export const tests = {
  async "a run is drawn as named tracks"(world) {
    const { page, faults, close } = await open(world);
    const names = await page.locator(".tracks__label").evaluateAll((all) => all.map((one) => one.dataset.track));
    assert.deepEqual(names, ["G1 blocks", "Queues", "Passes", "Request 0", "Request 1", "Request 2", "Request 3"]);
    assert.match(await text(page, '[data-group="Requests"]'), /Requests\s*4/);
    for (const name of names) {
      assert.ok((await coloursOf(page, name)).length >= 3, `${name} is drawn`);
    }
    assert.deepEqual(faults, []);
    await close();
  },

  async "the wheel zooms at the pointer and pans, and so do the keys"(world) {
    const { page, faults, close } = await open(world);
    const whole = await seen(page);
    const [x, y] = await spot(page, "Request 1", 0.5);
    await page.mouse.move(x, y);
    await page.locator(".tracks__tip").waitFor();
    const under = () => text(page, ".tracks__tip strong");
    const what = await under();
    await page.mouse.wheel(0, -400);
    await seesOther(page, whole);
    assert.equal(await under(), what, "what is under the pointer stays there");
    const near = await seen(page);
    await page.keyboard.press("w");
    await seesOther(page, near);
    await page.keyboard.press("s");
    await until(page, (was) => document.querySelector(".tracks__corner").textContent === was, near);
    const view = () => page.locator(".slider__view i").getAttribute("style");
    const before = await view();
    await page.keyboard.press("d");
    await until(page, (was) => document.querySelector(".slider__view i").getAttribute("style") !== was, before);
    const after = await view();
    assert.ok(parseFloat(after.slice(5)) > parseFloat(before.slice(5)), "D goes on in time");
    await page.keyboard.press("a");
    await until(page, (was) => document.querySelector(".slider__view i").getAttribute("style") !== was, after);
    await page.keyboard.down("Shift");
    await page.mouse.wheel(0, 200);
    await page.keyboard.up("Shift");
    await until(page, (was) => document.querySelector(".slider__view i").getAttribute("style") !== was, before);
    assert.equal(await seen(page), near, "a pan changes no length");
    await page.keyboard.press("f");
    await until(page, (was) => document.querySelector(".tracks__corner").textContent === was, whole);
    assert.deepEqual(faults, []);
    await close();
  },

  async "a click moves the cursor and selects what is there"(world) {
    const { page, faults, close } = await open(world);
    const clock = await text(page, "#clock");
    await page.mouse.click(...(await spot(page, "Request 2", 0.4)));
    await page.locator(`${label("Request 2")}.tracks__label--chosen`).waitFor();
    await until(page, (was) => document.querySelector("#clock").textContent !== was, clock);
    const whole = await seen(page);
    await page.keyboard.press("f");
    await seesOther(page, whole);
    await page.keyboard.press("f");
    await until(page, (was) => document.querySelector(".tracks__corner").textContent === was, whole);
    await page.locator(`${label("Request 0")} .tracks__name`).click();
    await page.locator(`${label("Request 0")}.tracks__label--chosen`).waitFor();
    assert.deepEqual(faults, []);
    await close();
  },

  async "the pointer is told what lies under it, with exact times"(world) {
    const { page, faults, close } = await open(world, "preemption");
    await page.mouse.move(...(await spot(page, "Request 0", 0.2)));
    const tip = page.locator(".tracks__tip");
    await tip.waitFor();
    assert.match(await tip.textContent(), /Request 0: decode5 ms to 775\.4 msfor 770\.4 ms/);
    await page.locator("#live").hover();
    await tip.waitFor({ state: "detached" });
    assert.deepEqual(faults, []);
    await close();
  },

  async "a span that is dragged over tells what happened in it"(world) {
    const { page, faults, close } = await open(world);
    const [x, y] = await spot(page, "Passes", 0.001);
    const [end] = await spot(page, "Passes", 0.999);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(end, y, { steps: 5 });
    await page.mouse.up();
    await page.locator("#span-summary").waitFor();
    const told = await text(page, "#span-summary");
    const passes = Number(/([\d\u202f]+) passes/.exec(await text(page, ".panel--board"))[1]);
    assert.match(told, new RegExp(`passes ended${passes}requests begun4requests ended4preemptions0`));
    const whole = await seen(page);
    await page.mouse.move(x + 100, y);
    await page.mouse.down();
    await page.mouse.move(x + 40, y, { steps: 5 });
    await page.mouse.up();
    await until(page, (was) => document.querySelector("#span-summary").textContent !== was, told);
    await page.click("#span-zoom");
    await seesOther(page, whole);
    await page.keyboard.press("Escape");
    await page.locator("#drawer").waitFor({ state: "detached" });
    assert.equal(await page.locator(".tracks__span").count(), 0);
    assert.deepEqual(faults, []);
    await close();
  },

  async "tracks are pinned on top, and groups fold"(world) {
    const { page, faults, close } = await open(world);
    await page.locator(label("Request 3")).hover();
    await page.getByRole("button", { name: "Pin Request 3 on top" }).click();
    await page.locator(`${label("Request 3")}.tracks__label--pinned`).waitFor();
    assert.equal(await page.locator(".tracks__label").first().getAttribute("data-track"), "Request 3");
    assert.ok((await coloursOf(page, "Request 3")).length >= 3, "it is drawn where it is named");
    const group = page.locator('[data-group="Requests"]');
    await group.click();
    await page.locator(label("Request 0")).waitFor({ state: "detached" });
    assert.equal(await group.getAttribute("aria-expanded"), "false");
    await group.click();
    await page.locator(label("Request 0")).waitFor();
    await page.getByRole("button", { name: "Unpin Request 3" }).click();
    await page.locator(".tracks__label--pinned").waitFor({ state: "detached" });
    assert.deepEqual(faults, []);
    await close();
  },

  async "search goes from answer to answer"(world) {
    const { page, faults, close } = await open(world, "preemption");
    const ask = async (words) => {
      await page.keyboard.press("/");
      await page.locator("#search").fill(words);
      await page.keyboard.press("Enter");
      await page.locator(`.drawer__head h3:text-is("Search"), .drawer__head h3:text("“${words}”")`).waitFor();
    };
    const place = (wanted) => until(page, (wanted) => document.querySelector("#search-place")?.textContent === wanted, wanted);
    await page.locator("#tracks-canvas").focus();
    await ask("preempted");
    const count = await page.locator("#hits li").count();
    assert.ok(count >= 2, `${count} preemptions`);
    await place(`1 of ${count}`);
    const first = await text(page, "#clock");
    await page.keyboard.press("Enter");
    await place(`2 of ${count}`);
    await until(page, (was) => document.querySelector("#clock").textContent !== was, first);
    const request = /request (\d+)/.exec(await text(page, "#hits .drawer__chosen"))[1];
    await page.locator(`${label(`Request ${request}`)}.tracks__label--chosen`).waitFor();
    await page.keyboard.press("Shift+Enter");
    await place(`1 of ${count}`);
    await page.locator("#hits button").last().click();
    await place(`${count} of ${count}`);
    await page.locator("#tracks-canvas").focus();
    await ask("outcome:exhausted");
    assert.match(await text(page, "#hits"), /request \d: exhausted, \d+ blocks? needed and \d+ obtainable/);
    await page.locator("#tracks-canvas").focus();
    await ask("request 2");
    assert.match(await text(page, "#hits"), /request 2: waits.*its prompt is computed.*gets its answer.*is preempted/s);
    await page.locator("#tracks-canvas").focus();
    await ask("rejected");
    await page.locator("#search-none").waitFor();
    await page.locator("#tracks-canvas").focus();
    await ask("where is my block");
    assert.match(await text(page, "#search-help"), /not understood.*request 17.*outcome:blocked.*transfer 5/s);
    assert.deepEqual(faults, []);
    await close();
  },

  async "a block is found by the first digits of its hash, a copy by its number"(world) {
    const { page, faults, close } = await open(world, "blocked-on-offload", 1000);
    const search = async (words) => {
      await page.locator("#search").fill(words);
      await page.locator("#search").press("Enter");
      await page.locator(`.drawer__head h3:text("“${words}”")`).waitFor();
    };
    await search("transfer 0");
    assert.match(await text(page, "#hits"), /transfer 0, \d+ blocks, G1 to G2: queued.*: starts.*: ends/s);
    await page.locator(`${label("G1→G2")}.tracks__label--chosen`).waitFor();
    await page.locator("#tracks-canvas").focus();
    await page.keyboard.press("Home");
    for (;;) {
      await page.keyboard.press(">");
      await page.locator("#facts li").first().waitFor();
      if (/[0-9a-f]{8}…/.test(await text(page, "#facts"))) break;
    }
    const digits = /([0-9a-f]{8})…/.exec(await text(page, "#facts"))[1];
    await search(digits);
    assert.match(await text(page, "#hits"), new RegExp(`block ${digits}[0-9a-f]{8}: matchable in G1`));
    assert.deepEqual(faults, []);
    await close();
  },

  async "what is seen can be read as a table"(world) {
    const { page, faults, close } = await open(world);
    await page.click("#as-table");
    const rows = page.locator("#tracks-table tbody tr");
    await rows.first().waitFor();
    const all = await rows.count();
    const passes = Number(/([\d\u202f]+) passes/.exec(await text(page, ".panel--board"))[1]);
    assert.ok(all > passes, `${all} rows`);
    assert.match(await text(page, "#tracks-table"), /Request 0decode\d+\.?\d* ms\d+\.?\d* ms\d+\.?\d* ms/);
    await page.mouse.move(...(await spot(page, "Passes", 0.5)));
    await page.mouse.wheel(0, -600);
    await until(page, (was) => document.querySelectorAll("#tracks-table tbody tr").length < was, all);
    await page.click("#as-table");
    await page.locator("#drawer").waitFor({ state: "detached" });
    assert.deepEqual(faults, []);
    await close();
  },

  async "steps go fact by fact, and on to the neighbours of the instant"(world) {
    const { page, faults, close } = await open(world, "first-steps", 500);
    const place = (wanted) => until(page, (wanted) => document.querySelector("#fact-place")?.textContent.startsWith(wanted), wanted);
    const marked = () => text(page, '#facts [aria-current="step"]');
    await page.keyboard.press(">");
    await place("1 of ");
    assert.match(await text(page, "#drawer"), /The board shows the end of the instant/);
    const total = Number(/of (\d+)/.exec(await text(page, "#fact-place"))[1]);
    const first = await marked();
    for (let fact = 2; fact <= total; fact += 1) {
      await page.keyboard.press(">");
      await place(`${fact} of ${total}`);
    }
    const clock = await text(page, "#clock");
    await page.keyboard.press(">");
    await until(page, (was) => document.querySelector("#clock").textContent !== was, clock);
    await place("1 of ");
    await page.keyboard.press("<");
    await place(`${total} of ${total}`);
    for (let fact = total - 1; fact >= 1; fact -= 1) {
      await page.keyboard.press("<");
      await place(`${fact} of ${total}`);
    }
    assert.equal(await marked(), first, "and back again");
    await page.locator("#facts button").last().click();
    await place(`${total} of ${total}`);
    assert.deepEqual(faults, []);
    await close();
  },

  async "a run plays as fast as one likes"(world) {
    const { page, faults, close } = await open(world);
    await page.selectOption("#pace", "0.1×");
    await page.click("#play");
    const start = await text(page, "#clock");
    await until(page, (was) => document.querySelector("#clock").textContent !== was, start);
    await page.click("#play");
    assert.ok(Number(await page.locator("#time").inputValue()) < 900, "a tenth of real time takes nine seconds");
    await page.selectOption("#pace", "1000×");
    await page.click("#play");
    await until(page, () => document.querySelector("#time").value === "1000");
    const paces = await page.locator("#pace option").evaluateAll((all) => all.map((one) => one.value));
    assert.deepEqual(paces, ["fit", "0.1×", "0.5×", "1×", "2×", "5×", "10×", "100×", "1000×"]);
    assert.deepEqual(faults, []);
    await close();
  },
};
