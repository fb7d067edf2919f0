// Opens the host, mounts the app.

import { mount } from 'svelte';
import './styles/tokens.css';
import './styles/base.css';
import './styles/card.css';
import App from './App.svelte';

const target = document.getElementById('app');
if (target) mount(App, { target });
