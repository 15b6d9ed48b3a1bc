#!/usr/bin/env node
/*
 * Shrinks a page of a generator for test/pages: removes scripts, styles, pictures and other parts for browsers only. Keeps every class, id,
 * role, aria and data attribute, because they identify generators.
 *
 *   node scripts/strip-page.mjs [--keep-styles] < page.html > test/pages/<case>/input.html
 *
 * `--keep-styles` keeps small style elements in the body, for pages that hide text with them.
 */
import { readFileSync } from 'node:fs'

const MAX_STYLE_CHARS = 400
const MAX_COMMENT_CHARS = 120
const keepsStyles = process.argv.includes('--keep-styles')

/** Links in the head that describe the page itself. */
const DESCRIPTIVE_LINK = /\brel="?(?:canonical|alternate|next|prev|license|author)\b/i

const source = readFileSync(0, 'utf8').replace(/<script\b[^>]*>[\s\S]*?<\/script\s*>/gi, '')
const bodyAt = Math.max(0, source.search(/<body\b/i))

const stripped = source
  .replace(/<style\b[^>]*>([\s\S]*?)<\/style\s*>/gi, (whole, css, at) =>
    keepsStyles && at > bodyAt && css.length <= MAX_STYLE_CHARS ? whole : '',
  )
  .replace(/<link\b[^>]*>/gi, (whole) => (DESCRIPTIVE_LINK.test(whole) ? whole : ''))
  .replace(/(<svg\b[^>]*>)[\s\S]*?(<\/svg\s*>)/gi, '$1$2')
  .replace(/\bdata:[\w.+-]+\/[\w.+-]+[;,][^"')\s]+/g, 'data:,')
  .replace(/<!--([\s\S]*?)-->/g, (whole, text) => (text.length <= MAX_COMMENT_CHARS ? whole : ''))
  .replace(/ (?:integrity|nonce|crossorigin|srcset|sizes)="[^"]*"/g, '')
  .replace(/[ \t]+$/gm, '')
  .replace(/\n{3,}/g, '\n\n')

process.stdout.write(`${stripped.trim()}\n`)
