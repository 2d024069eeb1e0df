// Moving pictures have a button that stops them. Readers who want little motion see them still.

{
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  for (const image of document.querySelectorAll('img[src$=".webp"]')) {
    image.closest('picture')?.querySelector('source')?.remove();
    const link = image.closest('a') ?? image.closest('picture') ?? image;
    const box = Object.assign(document.createElement('span'), { className: 'moving' });
    const button = Object.assign(document.createElement('button'), { type: 'button' });
    let still;
    const set = (isStill) => {
      button.textContent = isStill ? '▶' : '❚❚';
      button.setAttribute('aria-label', isStill ? 'Play the film' : 'Pause the film');
      still?.remove();
      still = undefined;
      image.hidden = isStill;
      if (!isStill) return;
      still = Object.assign(document.createElement('canvas'), { width: image.naturalWidth, height: image.naturalHeight });
      still.getContext('2d').drawImage(image, 0, 0);
      image.after(still);
    };
    button.addEventListener('click', () => set(!still));
    link.replaceWith(box);
    box.append(link, button);
    set(false);
    // A picture has its size only now.
    if (calm) image.decode().then(() => set(true), () => {});
  }
}
