/** VitePress's own theme with the colours of the app. */

import DefaultTheme from 'vitepress/theme';

import './countersign.css';

export default DefaultTheme;
