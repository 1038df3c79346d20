/** Light or dark: as the system has it, until somebody chooses. */
const KEY = 'theme';

const chosen = localStorage.getItem(KEY);
if (chosen) document.documentElement.dataset.theme = chosen;

export function toggleTheme(): void {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  localStorage.setItem(KEY, root.dataset.theme);
}
