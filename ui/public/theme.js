// Light or dark before anything is drawn: as the window last was, else as the system is. What is set holds once the engine has told it.
{
  const kept = localStorage.getItem('theme');
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  document.documentElement.dataset.theme = kept === 'light' || kept === 'dark' ? kept : system;
}
