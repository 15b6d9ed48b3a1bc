import { expect, test } from 'vitest'
import { extract } from '../../../../test/extract.ts'

test('extracts a page of the Apache manual without lists of languages and topics and links to the top', () => {
  const page = extract(
    `<body><div id="page-header"><p class="menu"><a href="mod/">Modules</a></p></div><div id="path"><a href="/">Apache</a></div><div id="page-content"><div id="preamble"><h1>Binding to Addresses</h1><div class="toplang"><p><span>Available Languages: </span><a href="../de/">de</a></p></div><p>Configuring the server to listen on ports.</p></div><div id="quickview"><ul id="toc"><li><a href="#overview">Overview</a></li></ul><h3>See also</h3></div><div class="top"><a href="#page-header">top</a></div><div class="section"><h2><a name="overview">Overview</a></h2><p>It binds to an address.</p></div></div><div class="bottomlang"><a href="../de/">de</a></div></body>`,
  )
  expect(page).toEqual({
    generator: 'apache-manual',
    markdown:
      '# Binding to Addresses\n\nConfiguring the server to listen on ports.\n\n## Overview\n\nIt binds to an address.\n',
  })
})
