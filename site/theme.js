// The theme of all pages: that of the system, until somebody chooses. The book keeps its choice
// under the same name.

(() => {
  const key = 'mdbook-theme';
  const stored = () => {
    try {
      return localStorage.getItem(key)?.replaceAll('"', '');
    } catch {
      return null;
    }
  };
  const system = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => {
    const chosen = stored();
    return ['light', 'navy'].includes(chosen) ? chosen === 'navy' : system.matches;
  };
  const apply = () => document.documentElement.classList.toggle('dark', isDark());
  apply();
  system.addEventListener('change', apply);
  document.addEventListener('DOMContentLoaded', () => {
    const button = document.querySelector('.site-bar button');
    button?.addEventListener('click', () => {
      const next = isDark() ? 'light' : 'navy';
      try {
        localStorage.setItem(key, next);
        // The reference has a choice of its own.
        localStorage.setItem('rustdoc-use-system-theme', 'false');
        localStorage.setItem('rustdoc-theme', next === 'navy' ? 'dark' : 'light');
      } catch {
        // Where the page may not store anything, the choice is that of this page.
      }
      document.documentElement.classList.toggle('dark', next === 'navy');
    });
  });
})();
