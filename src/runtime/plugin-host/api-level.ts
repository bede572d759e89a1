/**
 * The level of what `svc/plugin` offers. It goes up when something is taken away or changes its meaning, so that a plugin
 * made for another level is refused; what is only added leaves it as it is.
 */
export const apiLevel = 1;
