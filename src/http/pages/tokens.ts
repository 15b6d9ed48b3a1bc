/**
 * Colors, type scale and spacing of all pages: those of the server, the dashboard and the local page. Text and its background have a
 * contrast of at least 4.5 to 1 in both color schemes.
 */
export const TOKENS_CSS = `:root {
  color-scheme: light dark;
  --font: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
  --mono: ui-monospace, "SFMono-Regular", Menlo, Consolas, "Liberation Mono", monospace;
  --size-tiny: 0.75rem;
  --size-small: 0.8125rem;
  --size: 0.9375rem;
  --size-h3: 1rem;
  --size-large: 1.0625rem;
  --size-h2: 1.125rem;
  --size-h1: 1.5rem;
  --size-figure: 1.375rem;
  --space-1: 0.25rem;
  --space-2: 0.5rem;
  --space-3: 0.75rem;
  --space-4: 1rem;
  --space-6: 1.5rem;
  --space-8: 2rem;
  --radius: 6px;
  --control: 2.25rem;
  --page: 82rem;
  --ground: #f6f7f9;
  --surface: #ffffff;
  --surface-2: #eef1f5;
  --line: #d6dce4;
  --field: #8592a5;
  --text: #17202b;
  --text-2: #536072;
  --accent: #0b5cad;
  --accent-ground: #e3effb;
  --on-accent: #ffffff;
  --good: #17693c;
  --good-ground: #dff3e6;
  --warn: #815000;
  --warn-ground: #fdf0d3;
  --bad: #a81f28;
  --bad-ground: #fce5e6;
  --info: #2d4f80;
  --info-ground: #e5ecf7;
  --quiet: #536072;
  --quiet-ground: #e9edf2;
  --chart-1: #0b5cad;
  --chart-2: #1b8a50;
  --chart-3: #c07a00;
  --chart-4: #c4313b;
  --chart-5: #8594a8;
  --mark: #fff0a8;
  --focus: #0b5cad;
  --shadow: 0 1px 2px rgb(16 24 40 / 8%);
}

@media (prefers-color-scheme: dark) {
  :root {
    --ground: #10151c;
    --surface: #171e27;
    --surface-2: #202936;
    --line: #313d4d;
    --field: #6a7a90;
    --text: #e5eaf1;
    --text-2: #a0adbd;
    --accent: #74b5f5;
    --accent-ground: #16304a;
    --on-accent: #0b1622;
    --good: #79d09b;
    --good-ground: #15331f;
    --warn: #efbd66;
    --warn-ground: #3a2b0d;
    --bad: #f79299;
    --bad-ground: #41191d;
    --info: #a4c3f1;
    --info-ground: #1d2c44;
    --quiet: #a0adbd;
    --quiet-ground: #252f3c;
    --chart-1: #5ba7f0;
    --chart-2: #4fbf7d;
    --chart-3: #e3a53c;
    --chart-4: #ef6f78;
    --chart-5: #77869a;
    --mark: #5b4a00;
    --focus: #74b5f5;
    --shadow: 0 1px 2px rgb(0 0 0 / 40%);
  }
}
`
