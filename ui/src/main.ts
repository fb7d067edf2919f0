// Opens the host, takes the first snapshot, mounts the app in place of the empty frame that index.html draws at once.

import { mount, type Component } from 'svelte';
import './styles/tokens.css';
import './styles/base.css';
import './styles/card.css';
import App from './app/App.svelte';
import Broken from './features/frame/Broken.svelte';
import { applyLanguage } from './locales/language.svelte';
import { faultOf, openHost } from './ipc/desk';
import { load } from './app/routes.svelte';
import { Desk } from './state/desk.svelte';
import { keptView } from './state/view';

const target = document.getElementById('app');

function show<P extends Record<string, unknown>>(component: Component<P>, props: P): void {
  if (!target) return;
  target.replaceChildren();
  mount(component, { target, props });
}

async function start(): Promise<void> {
  await applyLanguage();
  const desk = await Desk.open(await openHost(), keptView(sessionStorage));
  performance.mark('told');
  // Errors in the page are reported and not swallowed; an observer that looks again in the next frame is no error.
  addEventListener(
    'error',
    ({ error, message }) => message.startsWith('ResizeObserver loop') || desk.tellFault(error ?? message),
  );
  addEventListener('unhandledrejection', ({ reason }) => desk.tellFault(reason));
  // A waiting card is drawn whole at once.
  const { screen } = desk.navigation.view;
  if (screen !== 'start') await load(screen, 'inspector');
  show(App, { desk });
  performance.mark('shown');
}

performance.mark('loaded');
start().catch((thrown: unknown) => show(Broken, { fault: faultOf(thrown) }));
