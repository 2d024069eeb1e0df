// In the page of a game, inside a page of the gallery: passes on where the scripts wait, and
// counts the frames that are drawn.

if (parent !== window) {
  window.showLines = (text) => parent.postMessage({ lines: text }, '*');
  window.drawn = 0;
  const request = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (draw) => request((now) => {
    window.drawn += 1;
    if (window.drawn === 2) parent.postMessage({ began: true }, '*');
    draw(now);
  });
}
