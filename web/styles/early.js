// Before the first paint: the theme chosen on an earlier visit. And if the page itself cannot be loaded, say so.
try {
  document.documentElement.dataset.theme = localStorage.getItem("tierscope.theme") || "system";
} catch {
  // Storage is forbidden: the system's theme it is.
}
addEventListener(
  "error",
  () => {
    const words = document.querySelector(".loading__words");
    if (words) {
      words.textContent =
        "The page could not be started. Reload it; if that does not help, use a current browser with WebAssembly.";
    }
  },
  true,
);
addEventListener("unhandledrejection", () => dispatchEvent(new Event("error")));
