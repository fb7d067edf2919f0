// Opens the host, takes the first snapshot, mounts the app.

import { mount } from 'svelte';
import './styles/tokens.css';
import './styles/base.css';
import './styles/card.css';
import App from './App.svelte';
import Broken from './features/frame/Broken.svelte';
import { faultOf, openHost } from './ipc/desk';
import { Desk } from './state/desk.svelte';

const target = document.getElementById('app');
if (target) {
  openHost()
    .then((host) => Desk.open(host))
    .then((desk) => mount(App, { target, props: { desk } }))
    .catch((thrown: unknown) => mount(Broken, { target, props: { fault: faultOf(thrown) } }));
}
