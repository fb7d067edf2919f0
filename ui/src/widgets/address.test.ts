import { fireEvent, render, screen, waitFor } from '@testing-library/svelte';
import { describe, expect, it } from 'vitest';
import { leadsTo } from './address';
import OpenAddress from './OpenAddress.svelte';

describe('an address', () => {
  it.each([
    [
      'https://auth.example/authorize?state=f3',
      { address: 'https://auth.example/authorize?state=f3', host: 'auth.example', safe: true },
    ],
    ['http://127.0.0.1:8080', { address: 'http://127.0.0.1:8080/', host: '127.0.0.1:8080', safe: true }],
    ['http://example.org/', { address: 'http://example.org/', host: 'example.org', safe: false }],
    [
      'https://bücher.example/',
      { address: 'https://xn--bcher-kva.example/', host: 'xn--bcher-kva.example', safe: true },
    ],
  ])('leads where a browser would go: %s', (text, leads) => expect(leadsTo(text)).toEqual(leads));

  it.each([
    '',
    'example.org',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/html,x',
    'mailto:a@b.example',
    'https://bank.example@evil.example/',
    'https://evil.example\\@bank.example/',
    'https://example.org/\nX',
  ])('that is not of the web, or hides where it leads, is not opened: %j', (text) => expect(leadsTo(text)).toBeNull());
});

describe('opening an address', () => {
  async function drawn(url: string, refused: { message: string; hint: string } | null = null) {
    const opened: string[] = [];
    render(OpenAddress, { url, onopen: (to: string) => (opened.push(to), Promise.resolve(refused)) });
    return opened;
  }

  it('takes two presses, and the host is read between them', async () => {
    const opened = await drawn('https://auth.example:8443/authorize');
    await fireEvent.click(screen.getByTestId('open-address'));
    expect(screen.getByRole('alertdialog').textContent).toContain('auth.example:8443');
    expect(opened).toEqual([]);
    // The focused button opens nothing.
    expect(document.activeElement).toBe(screen.getByTestId('open-address-not'));
    await fireEvent.click(screen.getByTestId('open-address-now'));
    await waitFor(() => expect(opened).toEqual(['https://auth.example:8443/authorize']));
    await screen.findByText('Opened in your browser.');
    expect(document.activeElement).toBe(screen.getByTestId('open-address'));
  });

  it('can be left by Esc, and opens nothing then', async () => {
    const opened = await drawn('https://auth.example/');
    await fireEvent.click(screen.getByTestId('open-address'));
    await fireEvent.keyDown(screen.getByTestId('open-address-not'), { key: 'Escape' });
    expect(screen.queryByRole('alertdialog')).toBeNull();
    expect(opened).toEqual([]);
  });

  it('says why it was refused', async () => {
    await drawn('https://auth.example/', { message: 'The browser could not be opened.', hint: 'Copy the address.' });
    await fireEvent.click(screen.getByTestId('open-address'));
    await fireEvent.click(screen.getByTestId('open-address-now'));
    expect((await screen.findByRole('alert')).textContent).toContain('could not be opened');
  });

  it('says so where it would not be opened', async () => {
    await drawn('file:///etc/passwd');
    expect(screen.queryByTestId('open-address')).toBeNull();
    screen.getByText(/not a web address/);
  });
});
