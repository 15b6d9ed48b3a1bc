import { render } from 'preact'
import { sanitizeRenderedText } from '../shared/sanitize-rendered-text.ts'
import { App } from './app.tsx'
import { enableOffline } from './offline.ts'

sanitizeRenderedText()
const container = document.getElementById('app')
if (container !== null) render(<App />, container)
void enableOffline()
