import { render } from 'preact'
import { showOnlyShowable } from '../shared/showable.ts'
import { App } from './app.tsx'
import { connectLive } from './live.ts'

showOnlyShowable()
connectLive()
const place = document.getElementById('app')
if (place !== null) render(<App />, place)
