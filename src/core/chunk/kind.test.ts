import { expect, test } from 'vitest'
import { kindOf } from './kind.ts'

test.each([
  ['markdown', 'a.md a.markdown a.MD docs/a.b.md'],
  ['json', 'a.json'],
  ['java_script', 'a.js a.jsx a.mjs a.cjs a.ts a.tsx a.mts a.cts'],
  ['html', 'a.html a.htm'],
  ['text', 'a.txt a.log a.jsonl a.csv a.ini a.cfg a.conf a.xml'],
  ['image', 'a.png a.jpg a.jpeg a.webp a.gif a.bmp A.PNG'],
  ['python', 'a.py a.pyi'],
  ['go', 'a.go'],
  ['rust', 'a.rs'],
  ['java', 'A.java'],
  ['c', 'a.c a.h'],
  ['cpp', 'a.cc a.cpp a.hpp'],
  ['ruby', 'a.rb'],
  ['shell', 'a.sh a.bash'],
  ['unknown', 'Makefile md a. a.md.bak docs.md/a constructor a.toString'],
])('%s is the kind of %s', (kind, paths) => {
  expect(paths.split(' ').map(kindOf)).toEqual(paths.split(' ').map(() => kind))
})
