export { default } from '../../../web/app/gone/page'
