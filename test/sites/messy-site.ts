import { type Answer, page } from './site.ts'

/**
 * A site with the features of real sites: several paths of different length to each page, lists, redirects, duplicates, canonical links,
 * noindex and nofollow pages, and missing pages.
 */
export function messySite(size: number): Record<string, Answer> {
  const pages: Record<string, Answer> = {
    '/': page('Home heron', ['/guide/0', '/guide/1', '/moved', '/twin/b', '/canon.html', '/private', '/missing']),
    '/robots.txt': { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /forbidden\n' },
    '/llms.txt': {
      headers: { 'content-type': 'text/plain' },
      body: '# Docs\n\n- [Listed](listed): a page\n- [Guide](/guide/3)\n- [Elsewhere](https://other.example/x)\n',
    },
    '/sitemap.xml': { headers: { 'content-type': 'application/xml' }, body: '' },
    '/listed': page('Listed lark', ['/guide/2', '/guide/2?utm_source=list', '/loop/1']),
    '/mapped': page('Mapped merlin', ['/listed', '/blocked/1', '/forbidden/1', 'mailto:a@example.org', '/img.png']),
    '/moved': { status: 301, headers: { location: '/moved/again' } },
    '/moved/again': { status: 302, headers: { location: '/moved/here' } },
    '/moved/here': page('Moved magpie', ['/guide/4', 'https://other.example/y']),
    '/loop/1': { status: 302, headers: { location: '/loop/2' } },
    '/loop/2': { status: 302, headers: { location: '/loop/1' } },
    '/twin/a': page('Twin tern', ['/twin/only']),
    '/twin/b': page('Twin tern', ['/twin/only']),
    '/twin/deep/c': page('Twin tern', ['/twin/only']),
    '/twin/only': page('Only oriole', ['/twin/a', '/twin/deep/c']),
    '/canon.html': page('Canon cuckoo', ['/guide/5'], '<link rel="canonical" href="/canon">'),
    '/canon': page('Canon cuckoo', ['/guide/5'], '<link rel="canonical" href="/canon">'),
    '/hollow.html': page('Hollow hawk', [], '<link rel="canonical" href="/hollow">'),
    '/private': page('Private parrot', ['/behind/private', '/hollow.html'], '<meta name="robots" content="noindex">'),
    '/behind/private': page('Behind bunting', ['/quiet']),
    '/quiet': page('Quiet quail', ['/quiet/1'], '<meta name="robots" content="nofollow">'),
    '/quiet/1': page('Unheard'),
    '/broken': { status: 500, body: 'no' },
    '/removed': { status: 410, body: 'no' },
    '/login':
      '<title>Log in</title><main><h1>Log in</h1><form method="post"><input name="u"><input type="password" name="p"><button>Log in</button></form></main>',
    '/data.json': { headers: { 'content-type': 'application/octet-stream' }, body: '\u0000\u0001\u0002' },
    '/blocked/1': page('Blocked'),
    '/forbidden/1': page('Forbidden'),
  }
  for (let i = 0; i < size; i++) {
    const links = [2 * i + 2, 2 * i + 3, i + 1, (i * 7) % size].filter((n) => n < size).map((n) => `/guide/${n}`)
    const extra = i % 9 === 4 ? ['/broken', '/removed', '/login', '/data.json', `/gone/${i}`] : [`/guide/${i}?ref=nav`]
    pages[`/guide/${i}`] = page(`Guide number ${i} grebe`, [...links, ...extra])
  }
  return pages
}

/** The sitemap of the messy site, whose origin is known only when the site is open. */
export function sitemapOf(origin: string): Answer {
  const urls = ['/mapped', '/guide/6', '/twin/deep/c'].map((path) => `<url><loc>${origin}${path}</loc></url>`).join('')
  return { headers: { 'content-type': 'application/xml' }, body: `<urlset>${urls}</urlset>` }
}
