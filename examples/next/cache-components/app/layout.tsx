export { default, metadata } from '../../web/app/layout'
