export { default } from '../../../web/app/moved/page'
