mod x{}
