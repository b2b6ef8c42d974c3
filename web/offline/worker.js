// A worker's first lines. Page and workers are one module: the page has compiled it already and sends it here, with the name
// of the script that belongs to it. Whoever starts in a worker finds that there is no window, and answers questions.
self.onmessage = async ({ data: { script, module } }) => {
  self.onmessage = null;
  const { default: start } = await import(script);
  await start({ module_or_path: module });
};
