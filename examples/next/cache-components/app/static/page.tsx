export { default } from '../../../web/app/static/page'
