// The default theme, with tables that fit.
import DefaultTheme from 'vitepress/theme';
import './style.css';

export default DefaultTheme;
