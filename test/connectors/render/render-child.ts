import { openChromiumRenderer } from '../../../src/fetch/chromium/renderer.ts'

// This program renders a page and prints `rendered`. Then it renders a page that never ends, until the test kills the process.
const [, , executablePath = ''] = process.argv
const renderer = await openChromiumRenderer({ executablePath, userAgent: 'Pharos/0.0.0 (+test)', timeoutMs: 60_000 })
await renderer.render({ url: 'http://site.example/', body: '<p>x</p>' })
console.log('rendered')
await renderer.render({ url: 'http://site.example/', body: '<p>x</p><script>while (true);</script>' })
