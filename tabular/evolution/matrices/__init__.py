"""Evolution of the transition matrices of PRAM: what they are expected to do, and matrices that improve themselves."""
