import { render } from 'preact'
import { App } from './app.tsx'
import { connectLive } from './live.ts'
import { showOnlyShowable } from './showable.ts'

showOnlyShowable()
connectLive()
const place = document.getElementById('app')
if (place !== null) render(<App />, place)
