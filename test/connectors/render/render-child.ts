import { openChromiumRenderer } from '../../../src/fetch/chromium-renderer.ts'

/** Starts to render a page that never ends, reports it, and runs until it is killed. */
const [, , executablePath = ''] = process.argv
const renderer = await openChromiumRenderer({ executablePath, userAgent: 'Pharos/0.0.0 (+test)', timeoutMs: 60_000 })
await renderer.render({ url: 'http://site.example/', body: '<p>x</p>' })
console.log('rendered')
await renderer.render({ url: 'http://site.example/', body: '<p>x</p><script>while (true);</script>' })
