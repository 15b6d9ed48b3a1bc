import { render } from 'preact'
import { sanitizeRenderedText } from '../shared/sanitize-rendered-text.ts'
import { App } from './app.tsx'
import { connectLive } from './live.ts'

sanitizeRenderedText()
connectLive()
const container = document.getElementById('app')
if (container !== null) render(<App />, container)
