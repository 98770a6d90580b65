export { default } from 'vitepress/theme'
import './drawings.css'
